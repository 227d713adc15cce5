import type { ExtensionContents } from '#db/schema/index.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';

type Declared = Omit<ExtensionContents, 'sequenceNumber'>;

/** A field of a declaration; `secretId` represents the protected settings. */
export type DeclaredField =
  | 'version'
  | 'state'
  | 'secretId'
  | 'publicSettings'
  | 'requestedVersion'
  | 'autoUpgradeMinorVersion'
  | 'dependsOn'
  | 'timeouts';

const fields: readonly DeclaredField[] = [
  'version',
  'state',
  'secretId',
  'publicSettings',
  'requestedVersion',
  'autoUpgradeMinorVersion',
  'dependsOn',
  'timeouts',
];

/** Returns the fields that differ. The order of dependencies and of properties is ignored. */
export function differingFields(before: Declared, after: Declared): ReadonlySet<DeclaredField> {
  return new Set(
    // Most values are the same value, or the same object, so they need no comparison as JSON.
    fields.filter((field) => before[field] !== after[field] && comparable(before, field) !== comparable(after, field)),
  );
}

const comparable = (declared: Declared, field: DeclaredField): string =>
  canonicalJson(field === 'dependsOn' ? [...declared.dependsOn].sort() : declared[field]);
