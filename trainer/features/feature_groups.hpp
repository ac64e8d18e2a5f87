// feature_groups.hpp: all groups in the order of a row.
// Invariant, proved by the compiler: their spans tile 0 to kFeatureDim without hole or overlap, and
// each begins at the name it should.
// Read next: features.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <tuple>

#include "trainer/features/feature_names.hpp"
#include "trainer/features/group_adaptive.hpp"
#include "trainer/features/group_bar.hpp"
#include "trainer/features/group_calendar.hpp"
#include "trainer/features/group_cusum.hpp"
#include "trainer/features/group_directional.hpp"
#include "trainer/features/group_microstructure.hpp"
#include "trainer/features/group_moments.hpp"
#include "trainer/features/group_momentum.hpp"
#include "trainer/features/group_patterns.hpp"
#include "trainer/features/group_returns.hpp"
#include "trainer/features/group_statistics.hpp"
#include "trainer/features/group_transition.hpp"
#include "trainer/features/group_trend.hpp"
#include "trainer/features/group_volatility.hpp"
#include "trainer/features/group_volume.hpp"

namespace drey::trainer {
template <class... Group>
struct GroupList {
  using State = std::tuple<Group...>;

  static constexpr bool tile_the_row() {
    std::size_t next = 0;
    const bool in_order = ((Group::kFirst == next && (next += Group::kCount) != 0) && ...);
    return in_order && next == kFeatureDim;
  }
};

using FeatureGroups =
    GroupList<BarGroup, ReturnsGroup, MomentsGroup, TrendGroup, MomentumGroup, VolatilityGroup,
              VolumeGroup, MicrostructureGroup, PatternsGroup, StatisticsGroup, CalendarGroup,
              CusumGroup, DirectionalGroup, TransitionGroup, AdaptiveGroup>;

static_assert(FeatureGroups::tile_the_row());
static_assert(kFeatureNames[BarGroup::kFirst] == "o_c1");
static_assert(kFeatureNames[ReturnsGroup::kFirst] == "ret_lag1");
static_assert(kFeatureNames[MomentsGroup::kFirst] == "ret_mean_5");
static_assert(kFeatureNames[TrendGroup::kFirst] == "sma_dist_5");
static_assert(kFeatureNames[MomentumGroup::kFirst] == "rsi_7");
static_assert(kFeatureNames[VolatilityGroup::kFirst] == "natr_7");
static_assert(kFeatureNames[VolumeGroup::kFirst] == "vol_z_20");
static_assert(kFeatureNames[MicrostructureGroup::kFirst] == "roll_spread_20");
static_assert(kFeatureNames[PatternsGroup::kFirst] == "cdl_doji");
static_assert(kFeatureNames[StatisticsGroup::kFirst] == "acf1_60");
static_assert(kFeatureNames[CalendarGroup::kFirst] == "sin_tod");
static_assert(kFeatureNames[CusumGroup::kFirst] == "cusum_pos");
static_assert(kFeatureNames[DirectionalGroup::kFirst] == "adx_14");
static_assert(kFeatureNames[TransitionGroup::kFirst] == "p_stay");
static_assert(kFeatureNames[AdaptiveGroup::kFirst] == "pos_mult");
}  // namespace drey::trainer
