import { isEmptySecret, type ProtectedDraft } from './draft.ts';

export type DraftSecretChange = 'replace' | 'add' | 'remove' | null;

/** Returns what applying the draft does to protected settings; null if it leaves them unchanged. */
export function changeOfSecrets(secrets: ProtectedDraft, hadSecrets: boolean): DraftSecretChange {
  if (secrets.mode === 'keep') return null;
  const isEmpty = secrets.mode === 'remove' || (isEmptySecret(secrets.values) && !secrets.unread);
  if (isEmpty) return secrets.mode === 'remove' && hadSecrets ? 'remove' : hadSecrets ? 'replace' : null;
  return hadSecrets ? 'replace' : 'add';
}
