import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Measures an element before it is painted, and again whenever it or what is in it changes or scrolls. */
export function useMeasure<T>(measure: (element: HTMLElement) => T, initial: T) {
  const ref = useRef<HTMLDivElement>(null);
  const [measured, setMeasured] = useState(initial);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const look = (): void => {
      const now = measure(element);
      setMeasured((old) => (JSON.stringify(old) === JSON.stringify(now) ? old : now));
    };
    look();
    const observer = new ResizeObserver(look);
    for (const watched of [element, ...element.children]) observer.observe(watched);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [measure]);
  return [ref, measured] as const;
}
