/** A container that waits for an action: dimmed, announced as busy, and deaf to further actions. */

import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useMemo, useState } from "preact/hooks";

/** Whether the container is busy, and what keeps it so until a promise settles. */
export const ContainerContext = createContext({
  busy: false,
  hold: (_done: Promise<unknown>): void => {},
});

/** Makes a container of the component that calls it; `wrap` provides it to what is inside. */
export function useContainer() {
  const outer = useContext(ContainerContext);
  const [held, setHeld] = useState(0);
  const hold = useCallback((done: Promise<unknown>) => {
    setHeld((n) => n + 1);
    void done.finally(() => setHeld((n) => n - 1));
  }, []);
  const busy = outer.busy || held > 0;
  const container = useMemo(() => ({ busy, hold }), [busy, hold]);
  const attributes = held > 0 ? ({ "aria-busy": "true" } as const) : {};
  const wrap = (children: ComponentChildren) => (
    <ContainerContext.Provider value={container}>{children}</ContainerContext.Provider>
  );
  return { attributes, wrap };
}
