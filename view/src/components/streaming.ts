/** Text that grows while it is shown: what is new fades in, what was there stays still. */

import { useEffect, useRef } from "preact/hooks";

/** Returns the text as it was and what has been appended since, both `""` where there is none. */
export function useFresh(value: string, streaming: boolean) {
  const shown = useRef(value);
  useEffect(() => {
    shown.current = value;
  }, [value]);
  const grew = streaming && value.length > shown.current.length && value.startsWith(shown.current);
  const settled = grew ? shown.current : value;
  return [settled, value.slice(settled.length)] as const;
}
