// run_onnx.cjs: runs an ONNX file on rows of floats, for onnx_model_test.cpp.
//   node run_onnx.cjs MODULES MODEL ROWS VALUES: MODULES is the folder that holds onnxruntime-node.
// SPDX-License-Identifier: MIT
const fs = require("fs");
const path = require("path");

async function main([modules, model, rowsFile, valuesFile]) {
  const runtime = require(path.join(modules, "onnxruntime-node"));
  const session = await runtime.InferenceSession.create(model);
  const raw = fs.readFileSync(rowsFile);
  const rows = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
  const width = 225;
  const features = new runtime.Tensor("float32", rows, [rows.length / width, width]);
  const { q_values: values } = await session.run({ features });
  fs.writeFileSync(valuesFile, Buffer.from(values.data.buffer, values.data.byteOffset, values.data.byteLength));
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
