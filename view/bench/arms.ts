/** Two arms in turns, and how the one compares with the other. */

const DRAWS = 1000;

/** Milliseconds of each round. */
interface Pair {
  readonly ours: number;
  readonly theirs: number;
}

/** A ratio of medians, and the interval in which 95 of 100 such ratios lie. */
export interface Ratio {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

type Measure = () => Promise<number>;

/** Measures both `rounds` times, each as often first as second, and once before to warm up. */
export async function compareInTurns(
  rounds: number,
  ours: Measure,
  theirs: Measure,
): Promise<Ratio> {
  const pairs: Pair[] = [];
  for (let round = -1; round < rounds; round++) {
    const pair = await (round % 2 ? inOrder(ours, theirs) : inOrder(theirs, ours).then(swap));
    if (round >= 0) pairs.push(pair);
  }
  const drawn = Array.from({ length: DRAWS }, () =>
    ratio(pairs.map(() => pairs[Math.floor(Math.random() * pairs.length)] as Pair)),
  ).sort((a, b) => a - b);
  return {
    value: ratio(pairs),
    low: drawn[Math.floor(DRAWS * 0.025)] as number,
    high: drawn[Math.floor(DRAWS * 0.975)] as number,
  };
}

async function inOrder(first: Measure, second: Measure): Promise<Pair> {
  return { ours: await first(), theirs: await second() };
}

function swap({ ours, theirs }: Pair): Pair {
  return { ours: theirs, theirs: ours };
}

function ratio(pairs: readonly Pair[]): number {
  return median(pairs.map(({ ours }) => ours)) / median(pairs.map(({ theirs }) => theirs));
}

/** The middle of `values`. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}
