/** Announces when the picture is complete: drawn, fonts loaded, images loaded or failed. */

import { pause } from "./pause";

const PATIENCE_MS = 2000;
/** A frame that is out of sight never paints. */
const FRAME_MS = 100;

/** Sets `data-ready="true"` on the document element once fonts and images have settled. */
export async function announceReady(): Promise<void> {
  await Promise.race([settle(), pause(PATIENCE_MS)]);
  await Promise.race([new Promise(requestAnimationFrame), pause(FRAME_MS)]);
  document.documentElement.dataset.ready = "true";
}

async function settle(): Promise<void> {
  await document.fonts.ready;
  await Promise.all([...document.images].map(waitForImage));
}

function waitForImage(image: HTMLImageElement): Promise<unknown> {
  if (image.complete) return Promise.resolve();
  return new Promise((resolve) => {
    image.addEventListener("load", resolve, { once: true });
    image.addEventListener("error", resolve, { once: true });
  });
}
