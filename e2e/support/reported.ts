import { expect } from '@playwright/test';
import type { Api, CreatedVm } from './api.ts';

/**
 * Waits until the portal has the report with this sequence number. After that, the page must show it within a second.
 */
export async function reported(api: Api, vm: CreatedVm, extension: string, sequence: number): Promise<void> {
  await expect
    .poll(
      async () => {
        const { extensions } = await api.instanceView(vm.id);
        return extensions.find(({ name }) => name === extension)?.status?.sequenceNumber;
      },
      { intervals: [50], timeout: 30_000 },
    )
    .toBe(sequence);
}
