import type { Limits } from '#server/platform/limits.ts';
import { answer } from '#server/platform/worker-task.ts';
import type { ExpectedPackage } from './finding.ts';
import { readPackage } from './read-package.ts';

interface Task {
  path: string;
  limits: Limits;
  expected: ExpectedPackage;
}

await answer(({ path, limits, expected }: Task) => readPackage(path, limits, expected));
