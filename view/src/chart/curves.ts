import * as d3 from "d3-shape";

/** ChatKit's curve types; `bump` and `monotone` follow the horizontal axis. */
export const CURVES = {
  basis: d3.curveBasis,
  basisClosed: d3.curveBasisClosed,
  basisOpen: d3.curveBasisOpen,
  bumpX: d3.curveBumpX,
  bumpY: d3.curveBumpY,
  bump: d3.curveBumpX,
  linear: d3.curveLinear,
  linearClosed: d3.curveLinearClosed,
  natural: d3.curveNatural,
  monotoneX: d3.curveMonotoneX,
  monotoneY: d3.curveMonotoneY,
  monotone: d3.curveMonotoneX,
  step: d3.curveStep,
  stepBefore: d3.curveStepBefore,
  stepAfter: d3.curveStepAfter,
} as const satisfies Record<string, d3.CurveFactory>;

export const CURVE_NAMES = Object.keys(CURVES) as (keyof typeof CURVES)[];
