/** Watches how large the content is. */

/** Tells `changed` the size in pixels, at most once a frame and only when it differs. */
export function watchSize(changed: (width: number, height: number) => void): () => void {
  let told = "";
  let frame = 0;
  const tell = (): void => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    const size = [Math.ceil(width), Math.ceil(height)] as const;
    if (size.join() === told) return;
    told = size.join();
    changed(...size);
  };
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(tell);
  });
  observer.observe(document.documentElement);
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
  };
}
