import {
  type CurveFactory,
  curveBasis,
  curveBasisClosed,
  curveBasisOpen,
  curveBumpX,
  curveBumpY,
  curveLinear,
  curveLinearClosed,
  curveMonotoneX,
  curveMonotoneY,
  curveNatural,
  curveStep,
  curveStepAfter,
  curveStepBefore,
} from "d3-shape";

/** ChatKit's curve types; `bump` and `monotone` follow the horizontal axis. */
export const CURVES = {
  basis: curveBasis,
  basisClosed: curveBasisClosed,
  basisOpen: curveBasisOpen,
  bumpX: curveBumpX,
  bumpY: curveBumpY,
  bump: curveBumpX,
  linear: curveLinear,
  linearClosed: curveLinearClosed,
  natural: curveNatural,
  monotoneX: curveMonotoneX,
  monotoneY: curveMonotoneY,
  monotone: curveMonotoneX,
  step: curveStep,
  stepBefore: curveStepBefore,
  stepAfter: curveStepAfter,
} as const satisfies Record<string, CurveFactory>;

export type CurveName = keyof typeof CURVES;

export const CURVE_NAMES = Object.keys(CURVES) as CurveName[];
