/** Badge, Icon and Image: what is only looked at. */

import type { CSSProperties } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { DEFAULTS } from "../defaults";
import { BLOCK, blockStyle } from "../style/block";
import { sides } from "../style/box";
import { background, color } from "../style/color";
import { tone } from "../style/tone";
import { insets, radius } from "../style/units";
import { picture } from "../style/url";
import { component } from "../tree/component";
import { flag, oneOf, optionalText, type Props, type Reader, text } from "../tree/read";
import { Glyph } from "./Glyph";

/** The least width in which the reason for a missing picture can be read. */
const LEAST_PX = 96;

const badgeSchema = {
  label: text,
  color: oneOf(
    ["secondary", "success", "danger", "warning", "info", "discovery"],
    DEFAULTS.badge.color,
  ),
  variant: oneOf(["solid", "soft", "outline"], DEFAULTS.badge.variant),
  size: oneOf(["sm", "md", "lg"], DEFAULTS.badge.size),
  pill: flag(DEFAULTS.badge.pill),
};
const iconSchema = {
  name: text,
  color: color("text"),
  size: oneOf(["xs", "sm", "md", "lg", "xl", "2xl", "3xl"], DEFAULTS.icon.size),
};
const POSITION = /^(?:left|center|right|(?:top|bottom)(?: left| right)?)$/;
const position: Reader<string> = (value) =>
  typeof value === "string" && POSITION.test(value) ? value : DEFAULTS.image.position;
const imageSchema = {
  ...BLOCK,
  src: picture,
  alt: optionalText,
  fit: oneOf(["cover", "contain", "fill", "scale-down", "none"], DEFAULTS.image.fit),
  position,
  radius,
  frame: flag(false),
  flush: flag(false),
  margin: insets,
  background,
};

function Badge(props: Props<typeof badgeSchema>) {
  const classes = `badge badge-${props.size} ${props.variant} ${props.pill ? "pill" : ""}`;
  if (!props.label.trim()) return null;
  return (
    <span class={classes} style={tone(props.color, props.variant)}>
      <span class="truncated">{props.label}</span>
    </span>
  );
}

function Icon(props: Props<typeof iconSchema>) {
  return (
    <span class={`icon icon-${props.size}`} style={{ color: props.color }}>
      <Glyph name={props.name} />
    </span>
  );
}

function Image(props: Props<typeof imageSchema>) {
  const broken = useBroken(props.src);
  const classes = ["image"];
  if (props.frame) classes.push("framed");
  if (props.flush) classes.push("flush");
  if (isUnsized(props)) classes.push("unsized");
  const style = {
    "--in-row": DEFAULTS.image.inRow,
    ...blockStyle(props),
    ...sides("margin", props.margin),
    objectFit: props.fit,
    objectPosition: props.position,
    borderRadius:
      props.radius ?? (props.flush ? undefined : `var(--radius-${DEFAULTS.image.radius})`),
    background: props.background,
  } as CSSProperties;
  if (!props.src || broken.now) {
    const blocked = broken.by === "policy";
    const reason = `${parseHost(props.src)} is not allowed here`;
    return (
      <div
        class={`${classes.join(" ")} missing`}
        style={{ ...style, background: undefined }}
        role="img"
        aria-label={[props.alt || "Image", blocked && reason].filter(Boolean).join(", ")}
        title={blocked ? reason : props.alt}
      >
        <Glyph name="square-image" />
        {blocked && isRoomy(props) && <span class="blocked">{reason}</span>}
      </div>
    );
  }
  return (
    <img
      class={classes.join(" ")}
      style={style}
      src={props.src}
      alt={props.alt ?? DEFAULTS.image.alt}
      referrerPolicy="no-referrer"
      onError={broken.mark}
    />
  );
}

const isUnsized = ({ width, height, size, aspectRatio, flex }: Props<typeof BLOCK>) =>
  !(width ?? height ?? size ?? aspectRatio ?? flex);

/** Tells whether that picture could not be had, and why; another picture gets its own chance. */
function useBroken(src: string | undefined) {
  const [failed, setFailed] = useState<{ src: string | undefined; by: "source" | "policy" }>();
  useLayoutEffect(() => {
    const hear = (event: SecurityPolicyViolationEvent): void => {
      const isImage = event.effectiveDirective === "img-src";
      if (isImage && src && parseOrigin(event.blockedURI) === parseOrigin(src)) {
        setFailed({ src, by: "policy" });
      }
    };
    document.addEventListener("securitypolicyviolation", hear);
    return () => document.removeEventListener("securitypolicyviolation", hear);
  }, [src]);
  const now = failed !== undefined && failed.src === src;
  return {
    now,
    by: now ? failed.by : undefined,
    mark: () => setFailed((old) => (old?.src === src ? old : { src, by: "source" })),
  };
}

const parseAddress = (address: string | undefined) =>
  address && URL.canParse(address) ? new URL(address) : undefined;
const parseOrigin = (address: string) => parseAddress(address)?.origin;
const parseHost = (address: string | undefined) => parseAddress(address)?.host ?? "";

/** Tells whether a sentence fits; without a width, the stylesheet decides. */
function isRoomy({ width, size }: Props<typeof BLOCK>): boolean {
  const pixels = Number.parseFloat(String(width ?? size ?? LEAST_PX));
  return String(width ?? size ?? "").endsWith("%") || pixels >= LEAST_PX;
}

export const MEDIA = [
  component("Badge", badgeSchema, Badge),
  component("Icon", iconSchema, Icon),
  component("Image", imageSchema, Image),
];
