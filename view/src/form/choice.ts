/** A value that is chosen rather than typed: it follows its default until the user chooses. */

import { useState } from "preact/hooks";

export function useChoice(initial: string) {
  const [chosen, choose] = useState<string>();
  return [chosen ?? initial, choose] as const;
}
