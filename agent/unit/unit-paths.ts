import { join } from 'node:path';
import { unitFolderName } from '#protocol/index.ts';
import type { AgentLayout } from '../folder/layout.ts';

/** The paths of one unit on this machine. */
export interface UnitPaths {
  /** The unit's folder, which its hooks see as `ENSEMBLE_CONTAINER_PATH`. */
  container: string;
  socket: string;
  /** The agent's file about the unit. */
  file: string;
  /** Folder of the outputs of hooks, in the folder of the logs of all units. */
  logFolder: string;
  allLogs: string;
}

export function unitPathsOf({ units, unitRecords, logs }: AgentLayout, unit: string): UnitPaths {
  const name = unitFolderName(unit);
  const container = join(units, name);
  const allLogs = join(logs, 'units');
  return {
    container,
    socket: join(container, 'ensemble.sock'),
    file: join(unitRecords, `${name}.json`),
    logFolder: join(allLogs, name),
    allLogs,
  };
}

/** Returns the folder of one version of a unit's formula, which is the working directory of its hooks. */
export function formulaRootOf({ container }: UnitPaths, version: string): string {
  return join(container, `formula-${version}`);
}
