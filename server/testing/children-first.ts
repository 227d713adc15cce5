import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * Runs the test files of the agent and the launcher first. They start many processes, and a fork takes longer the more
 * memory the worker has used before.
 */
export class ChildrenFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const startsChildren = ({ moduleId }: TestSpecification) =>
      /\/(?:agent|samples|server\/(?:launcher|agent-files))\//.test(moduleId);
    return [...sorted.filter(startsChildren), ...sorted.filter((file) => !startsChildren(file))];
  }
}
