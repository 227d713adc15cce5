import type { PlatformReport } from '#protocol/executions/index.ts';
import { inheritedEnvironment } from '../handler/environment.ts';
import { executors, type FoundPlatform } from './executors/index.ts';
import { findPython } from './executors/python.ts';

/** The platforms that were found on this machine. */
export interface FoundPlatforms {
  /** Programs that run scripts, keyed by the `Type` of the scripts. */
  platforms: ReadonlyMap<string, FoundPlatform>;
  /** The Python that runs Bodies; null if the machine has none. */
  python: FoundPlatform | null;
}

/**
 * Looks for the programs of all executors. `python` is the path of the Python that runs Bodies and Python scripts, or
 * the name of a program in PATH.
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

/** Returns the report to the portal about this machine's platforms. `isOn`: whether execution plans are enabled. */
export function platformReport({ platforms, python }: FoundPlatforms, isOn: boolean): PlatformReport {
  const versions = [...platforms].map(([type, { version }]) => [type, { version }]);
  return {
    platforms: Object.fromEntries(versions),
    python: python?.version ?? null,
    executionPlans: isOn ? 'on' : 'off',
  };
}
