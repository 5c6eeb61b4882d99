/** Text that grows while it is shown: what is new fades in, what was there stays still. */

import { useEffect, useRef } from "preact/hooks";

/** Returns the text as it was and what has been appended since, both `""` where there is none. */
export function useFresh(
  value: string,
  streaming: boolean,
): readonly [settled: string, fresh: string] {
  const shown = useRef(value);
  useEffect(() => {
    shown.current = value;
  }, [value]);
  const grew = streaming && value.length > shown.current.length && value.startsWith(shown.current);
  return grew ? [shown.current, value.slice(shown.current.length)] : [value, ""];
}
