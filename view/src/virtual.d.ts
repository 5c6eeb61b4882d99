declare module "virtual:icons" {
  export const ICONS: Readonly<
    Record<
      string,
      readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[]
    >
  >;
}

declare module "virtual:tokens.css";
