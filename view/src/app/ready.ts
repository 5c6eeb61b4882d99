/** Says when the picture is complete: drawn, its fonts there, its images there or given up. */

const PATIENCE_MS = 2000;
/** A frame that is out of sight never paints; then the picture is as complete as it gets. */
const FRAME_MS = 100;

/** Sets `data-ready="true"` on the document element once what is shown now has settled. */
export async function announceReady(): Promise<void> {
  await Promise.race([settled(), pause(PATIENCE_MS)]);
  await Promise.race([new Promise(requestAnimationFrame), pause(FRAME_MS)]);
  document.documentElement.dataset.ready = "true";
}

async function settled(): Promise<void> {
  await document.fonts.ready;
  await Promise.all([...document.images].map(loaded));
}

function loaded(image: HTMLImageElement): Promise<unknown> {
  if (image.complete) return Promise.resolve();
  return new Promise((resolve) => {
    image.addEventListener("load", resolve, { once: true });
    image.addEventListener("error", resolve, { once: true });
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
