import { isEmptySecret, type ProtectedDraft } from './draft.ts';
import { isUntouched } from './single-change.ts';

export type DraftSecretChange = 'replace' | 'add' | 'remove' | 'change' | null;

/** Returns what applying the draft does to protected settings; null if it leaves them unchanged. */
export function changeOfSecrets(secrets: ProtectedDraft, hadSecrets: boolean): DraftSecretChange {
  if (secrets.mode === 'keep') return null;
  if (secrets.mode === 'change') return isUntouched(secrets) ? null : 'change';
  const isEmpty = secrets.mode === 'remove' || (isEmptySecret(secrets.values) && !secrets.unread);
  if (isEmpty) return secrets.mode === 'remove' && hadSecrets ? 'remove' : hadSecrets ? 'replace' : null;
  return hadSecrets ? 'replace' : 'add';
}
