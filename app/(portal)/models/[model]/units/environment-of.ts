import { unitFolderName } from '#protocol/unit-names.ts';
import type { ShownRunDetails } from './unit-data.ts';

type Run = Pick<ShownRunDetails, 'id' | 'unit' | 'hook' | 'remoteUnit' | 'relationId'>;

/**
 * Returns the variables of a hook that the portal knows, and placeholders for the agent's folder. Members are missing,
 * because they may have changed since.
 */
export function environmentOf(model: string, { id, unit, hook, remoteUnit, relationId }: Run): [string, string][] {
  const folder = `$ANNEX_DIR/units/${unitFolderName(unit)}`;
  const ofUnit: [string, string][] = [
    ['ENSEMBLE_MODEL', model],
    ['ENSEMBLE_LOCAL_UNIT', unit],
    ['ENSEMBLE_SERVICE', unit.slice(0, unit.lastIndexOf('/'))],
    ['ENSEMBLE_HOOK', hook],
    ['ENSEMBLE_CLIENT_ID', id],
    ['ENSEMBLE_CONTAINER_PATH', folder],
    ['ENSEMBLE_SOCKET', `${folder}/ensemble.sock`],
    ['PATH', '$ANNEX_DIR/tools/current:$PATH'],
  ];
  if (relationId === null) return ofUnit;
  const relation = hook.replace(/-relation-[a-z]+$/, '');
  return [
    ...ofUnit,
    ['ENSEMBLE_RELATION', relation],
    ['ENSEMBLE_RELATION_ID', `${relation}:${relationId}`],
    ['ENSEMBLE_REMOTE_UNIT', remoteUnit ?? ''],
  ];
}
