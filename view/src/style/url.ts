/** The addresses that a tree may point to. */

import { optionalText, type Reader } from "../tree/read";

const WEB = /^https?:\/\//i;
const LINK = /^(?:https?:\/\/|mailto:|tel:)/i;
const PICTURE = /^(?:https?:\/\/|blob:|data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,])/i;

export const isWebAddress = (url: string) => WEB.test(url);

/** Returns the address if a person may be led there. */
export const linkAddress = (url: string) => (LINK.test(url.trim()) ? url.trim() : undefined);

/** Reads a picture's address; a relative one has no origin here and leads nowhere. */
export const picture: Reader<string | undefined> = (value, around) => {
  const url = optionalText(value, around)?.trim();
  return url && PICTURE.test(url) ? url : undefined;
};
