import type { Limits } from '#server/platform/limits.ts';
import { answer } from '#server/platform/worker-task.ts';
import { readPackage } from './read-package.ts';

await answer(({ path, limits }: { path: string; limits: Limits }) => readPackage(path, limits));
