import type { AnyManifest, FormulaManifest } from '#protocol/formula.ts';

/** Returns the manifest of a formula; null for the manifest of a handler. */
export const formulaOf = (manifest: AnyManifest): FormulaManifest | null =>
  'handlerManifest' in manifest ? null : manifest;
