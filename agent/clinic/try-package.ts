import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CheckResult, evaluateChecks } from './evaluate-checks.ts';
import { TrialRun } from './life.ts';
import { noObservations, type Observations } from './observations.ts';
import { readPackage } from './read-package.ts';
import type { Trial } from './trial.ts';

export interface Result {
  seen: Observations;
  checks: CheckResult[];
}

/** Takes a package through a handler's life cycle with the agent's own code, and evaluates the observations. */
export async function tryPackage(trial: Trial): Promise<Result> {
  const seen = noObservations();
  if (!existsSync(trial.work)) mkdirSync(trial.work, { recursive: true });
  const { manifest, faults } = await readPackage(trial.zip, join(trial.work, 'package'));
  seen.manifest = manifest;
  seen.packageFaults = faults;
  if (manifest !== null && faults.length === 0) await new TrialRun(trial, seen).live();
  return { seen, checks: evaluateChecks(seen, trial.resources, trial.patience) };
}
