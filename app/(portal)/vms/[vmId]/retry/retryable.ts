import type { Extension, InstanceDetails } from '../vm-data.ts';

/** Whether an extension has a problem that running its handler again might solve. */
export const needsRetry = ({ goal, health, cause, needsSecrets, needsRelease }: Extension): boolean =>
  goal !== 'uninstall' &&
  !needsSecrets &&
  !needsRelease &&
  (health === 'failed' || health === 'degraded' || (health === 'unresponsive' && cause !== 'silent'));

/** Returns the extension that the “why” card offers to retry; null if there is none. */
export function retryTarget({ explanation, extensions }: InstanceDetails): Extension | null {
  const wanted = explanation?.act?.extension;
  const found = extensions.find(({ name }) => name === wanted);
  return found !== undefined && needsRetry(found) ? found : null;
}
