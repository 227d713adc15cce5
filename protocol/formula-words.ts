/** The kinds of packages. The manifest at the root of a package decides its kind. */
export const packageKinds = ['handler', 'formula'] as const;
export type PackageKind = (typeof packageKinds)[number];

/** The only paths of the manifest and the options within the package of a formula. */
export const metadataFileName = 'metadata.yaml';
export const optionsFileName = 'config.yaml';

/** The hooks of a unit that do not depend on the formula's relations. */
export const unitHooks = ['install', 'start', 'stop', 'config-changed', 'upgrade-formula'] as const;
/** What the names of relation hooks add to the name of the relation. */
export const relationEvents = ['joined', 'changed', 'departed', 'broken'] as const;
/** The time limits of hooks in seconds: the default, and the maximum. */
export const hookSeconds = { default: 300, maximum: 86_400 } as const;

/** The roles of a formula in its relations. */
export const relationSides = ['provides', 'requires', 'peers'] as const;
export type RelationSide = (typeof relationSides)[number];
