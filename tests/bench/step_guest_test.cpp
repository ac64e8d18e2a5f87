// step_guest_test.cpp: a guest of the race of gradient steps, here a script of a few lines: it has rows
// beside the others, spoils none of theirs when it fails, and nobody misses it where there is none.
// SPDX-License-Identifier: MIT
#include "steps/guest.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "fake_racers.hpp"
#include "race/error.hpp"
#include "steps/step_race.hpp"

namespace drey::bench {
namespace {
constexpr const char* kFigures =
    R"({"name": "slowtorch 1", "how": "by hand", "steps_per_second": 12.5, )"
    R"("heap_calls_per_step": 700})";

/// A copy of the race in a folder of its own: a real guest of the build is not beside it.
std::filesystem::path copy_race(const TestFolder& folder) {
  auto program = folder.path() / "drey-step-race";
  std::filesystem::copy_file(DREY_TEST_STEP_RACE, program);
  return program;
}

ChildResult race_once(const std::filesystem::path& program) {
  return run_command({program.string(), "--rounds", "1", "--seconds", "0.001", "--json",
                      program.string() + ".json"});
}

std::string refusal_of_text(const std::string& text) {
  try {
    const GuestFigures figures = read_guest_figures("torch", text);
    return "accepted as " + figures.name;
  } catch (const RaceFailed& error) {
    return error.what();
  }
}

std::string refusal_of_script(const std::string& body) {
  const TestFolder folder;
  try {
    const auto figures = run_guest(folder.write_script("torch", body), 0.01, false);
    return "accepted as " + figures.name;
  } catch (const RaceFailed& error) {
    return error.what();
  }
}

TEST(StepGuest, RacesSayNothingOfItWhereThereIsNone) {
  const TestFolder folder;
  const ChildResult result = race_once(copy_race(folder));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(result.standard_error, "");
  EXPECT_NE(result.standard_output.find("naive loops"), std::string::npos);
  EXPECT_EQ(result.standard_output.find("torch"), std::string::npos) << result.standard_output;
  const std::string json = read_file(folder.path() / "drey-step-race.json");
  EXPECT_NE(json.find("naive loops"), std::string::npos);
  EXPECT_EQ(json.find("torch"), std::string::npos) << json;
}

TEST(StepGuest, HasARowForWhatItDoesAndALineForWhatItFailsAt) {
  const TestFolder folder;
  folder.write_script("drey-step-race-torch",
                      "case \"$*\" in\n*--double*) echo 'no kernels' >&2; exit 3;;\n"
                      "'--seconds 0.001'*) echo '" +
                          std::string(kFigures) + "';;\nesac\n");
  const ChildResult result = race_once(copy_race(folder));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
  EXPECT_NE(result.standard_error.find("drey-step-race-torch: exit code 3: no kernels"),
            std::string::npos)
      << result.standard_error;
  EXPECT_NE(result.standard_output.find("slowtorch 1: by hand"), std::string::npos)
      << result.standard_output;
  EXPECT_NE(result.standard_output.find("x torch"), std::string::npos);
  const auto json = nlohmann::json::parse(read_file(folder.path() / "drey-step-race.json"));
  EXPECT_EQ(json["racers"].front()["name"], "portable f32");
  EXPECT_GT(json["racers"].front()["times_libtorch"], 0);
  EXPECT_EQ(json["racers"].back()["name"], "naive loops");
  int guests = 0;
  for (const auto& racer : json["racers"]) {
    const std::string name = racer["name"];
    EXPECT_EQ(racer["steps_per_second"].size(), 1U) << name;
    const bool is_double = name.find("double") != std::string::npos;
    EXPECT_EQ(racer.contains("times_libtorch"), !is_double) << name;
    if (name != "slowtorch 1") continue;
    ++guests;
    EXPECT_EQ(racer["median"], 12.5);
    EXPECT_EQ(racer["heap_calls_per_step"], 700);
  }
  EXPECT_EQ(guests, 1);
}

TEST(StepGuest, IsComparedWithStepsOfItsKind) {
  StepRacer plain;
  plain.name = "avx2 f32";
  plain.steps_per_second = {3000, 1000};
  StepRacer twice = plain;
  twice.double_dqn = true;
  StepRacer guest = plain;
  guest.is_guest = true;
  guest.steps_per_second = {1000, 500};
  StepRacer guest_twice = guest;
  guest_twice.double_dqn = true;
  guest_twice.steps_per_second = {500, 250};
  const auto json = nlohmann::json::parse(
      step_race_json({plain, guest, twice, guest_twice, plain}, StepRaceOptions(), Machine()));
  EXPECT_EQ(json["racers"][0]["times_libtorch"], 2.5);
  EXPECT_EQ(json["racers"][1]["times_libtorch"], 1);
  EXPECT_EQ(json["racers"][2]["times_libtorch"], 5);
}

TEST(StepGuest, FiguresAreReadWholeOrRefusedInOneLine) {
  const GuestFigures figures = read_guest_figures("torch", kFigures);
  EXPECT_EQ(figures.steps_per_second, 12.5);
  EXPECT_EQ(figures.heap_calls, 700);
  EXPECT_EQ(refusal_of_text("Segmentation\nfault"),
            "torch: expected one JSON object, found \"Segmentation\"");
  EXPECT_EQ(refusal_of_text(""), "torch: expected one JSON object, found \"\"");
  EXPECT_EQ(refusal_of_text("[1]"), "torch: expected one JSON object, found \"[1]\"");
  EXPECT_EQ(refusal_of_text("{}"),
            "torch: \"name\": expected a line of at most 80 characters, found nothing");
  EXPECT_EQ(refusal_of_text(R"({"name": "t", "how": "a\nb"})"),
            "torch: \"how\": expected a line of at most 80 characters, found \"a\\nb\"");
  for (const char* rate : {"0", "-1", "null", "\"fast\""}) {
    const std::string text = R"({"name": "t", "how": "h", "steps_per_second": )";
    EXPECT_EQ(refusal_of_text(text + rate + "}"),
              std::string("torch: \"steps_per_second\": expected a number above 0, found ") + rate);
    EXPECT_EQ(refusal_of_text(text + "1, \"heap_calls_per_step\": -2}"),
              "torch: \"heap_calls_per_step\": expected null or a number from 0, found -2");
  }
}

TEST(StepGuest, ProgramsThatFailAreNamedInOneLine) {
  EXPECT_NE(refusal_of_script("exit 4\n").find("torch: exit code 4: (it said nothing)"),
            std::string::npos);
  EXPECT_NE(refusal_of_script("echo gar; echo bage\n")
                .find("torch: expected one JSON object, found \"gar\""),
            std::string::npos);
  EXPECT_NE(refusal_of_script("kill -9 $$\n").find("torch: exit code 137"), std::string::npos);
  try {
    static_cast<void>(run_guest("/nowhere/torch", 0.01, false));
    FAIL() << "it ran";
  } catch (const RaceFailed& error) {
    EXPECT_STREQ(error.what(), "/nowhere/torch: cannot be run: No such file or directory");
  }
  EXPECT_EQ(guest_of("/nowhere/drey-step-race"), std::filesystem::path());
}

TEST(StepGuest, RunsOnOneThread) {
  const std::string body = "test \"$OMP_NUM_THREADS$OPENBLAS_NUM_THREADS\" = 11 && echo '" +
                           std::string(kFigures) + "'\n";
  EXPECT_EQ(refusal_of_script(body), "accepted as slowtorch 1");
}
}  // namespace
}  // namespace drey::bench
