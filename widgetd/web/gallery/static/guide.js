/** A page of the guide: its blocks can be copied, and it keeps the theme. */

import "./live.js";
import { carry, remembered } from "./ui.js";

carry("theme", remembered("theme") === "both" ? "" : remembered("theme"));
