/** Reports the size of the content when it changes. */

export type SizeWatch = ReturnType<typeof watchSize>;

/**
 * Calls `changed` with the size in pixels when it differs from the last one.
 *
 * `look` looks at once: a frame that is out of sight gets no turn of its own to notice a change.
 */
export function watchSize(changed: (width: number, height: number) => void) {
  let last = "";
  const look = (): void => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    const size = [Math.ceil(width), Math.ceil(height)] as const;
    // A hidden frame has no size; a host that heard of that would fold it for ever.
    if (!size[0] || !size[1] || size.join() === last) return;
    last = size.join();
    changed(...size);
  };
  const observer = new ResizeObserver(look);
  observer.observe(document.documentElement);
  return { look, stop: () => observer.disconnect() };
}
