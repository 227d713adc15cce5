import type { PlatformReport } from '#protocol/executions/index.ts';
import { inheritedEnvironment } from '../handler/environment.ts';
import { executors, type FoundPlatform } from './executors/index.ts';
import { findPython } from './executors/python.ts';

/** What this machine can run. */
export interface FoundPlatforms {
  /** By the `Type` of scripts. */
  platforms: ReadonlyMap<string, FoundPlatform>;
  /** The Python that runs Bodies; null if the machine has none. */
  python: FoundPlatform | null;
}

/**
 * Looks for the programs of all executors. `python` is the configured Python, which runs Bodies and Python scripts; by
 * default the first `python3` in PATH.
 */
export async function findPlatforms(
  own: Record<string, string | undefined>,
  python = 'python3',
): Promise<FoundPlatforms> {
  const environment = inheritedEnvironment(own);
  const found = await Promise.all(
    executors.map(async ({ type, find }): Promise<[string, FoundPlatform][]> => {
      const platform = type === 'Python' ? await findPython(python, environment) : await find(environment);
      return platform === null ? [] : [[type, platform]];
    }),
  );
  const platforms = new Map(found.flat());
  return { platforms, python: platforms.get('Python') ?? null };
}

/** What the agent reports to the portal about the machine. */
export function platformReport({ platforms, python }: FoundPlatforms, isOn: boolean): PlatformReport {
  const versions = [...platforms].map(([type, { version }]) => [type, { version }]);
  return {
    platforms: Object.fromEntries(versions),
    python: python?.version ?? null,
    executionPlans: isOn ? 'on' : 'off',
  };
}
