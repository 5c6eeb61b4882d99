/** Every component the view knows. */

import { CHART } from "../chart/Chart";
import type { Registry } from "../tree/Nodes";
import { BUTTON } from "./Button";
import { CARD } from "./Card";
import { DATE_PICKER } from "./DatePicker";
import { FORM } from "./Form";
import { FIELDS } from "./fields";
import { LIST } from "./ListView";
import { LAYOUT } from "./layout";
import { MARKDOWN } from "./Markdown";
import { MEDIA } from "./media";
import { SELECT } from "./Select";
import { TABLE } from "./Table";
import { TYPOGRAPHY } from "./typography";

const COMPONENTS = [
  ...LAYOUT,
  ...LIST,
  ...TYPOGRAPHY,
  ...MEDIA,
  ...FIELDS,
  ...TABLE,
  CARD,
  FORM,
  BUTTON,
  SELECT,
  DATE_PICKER,
  MARKDOWN,
  CHART,
];

export const REGISTRY: Registry = new Map(COMPONENTS.map((each) => [each.type, each]));
