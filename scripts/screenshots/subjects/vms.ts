import type { ScreenshotStage } from '../stage.ts';
import { choose, press, type Scene, type Subject, subject, vmAddress } from './subject.ts';

/** The page of a VM. */
export function vmPages(stage: ScreenshotStage): Subject[] {
  const vm = (name: string, rest = '') => vmAddress(stage, name, rest);
  const failed = vmAddress(stage, 'files-1');
  const past = vmAddress(stage, 'past-1');
  return [
    subject('vm-warning', vm('web-1')),
    subject('vm-progressing', vm('edge-1')),
    subject('vm-never', vm('bare-1')),
    // Shows that the wire server is disabled, unless the portal runs with ANNEX_WIRE=on.
    subject('vm-stock', vm('bare-1'), press('enrollment:stock'), { floats: true }),
    subject('vm-crowd', vm('crowd-1')),
    subject('vm-viewer', failed, undefined, { who: 'viewer' }),
    subject('vm-goal-state', `${past}?tab=goal-state`),
    subject('vm-goal-state-split', `${past}?tab=goal-state&a=2&b=5&view=split`),
    subject('vm-revert', `${past}?tab=goal-state`, revert, { floats: true }),
    subject('vm-output', `${failed}?tab=output`),
    subject('vm-queue', `${failed}?tab=queue`),
    subject('vm-documents', `${failed}?tab=documents`),
    subject('vm-documents-viewer', `${failed}?tab=documents`, undefined, { who: 'viewer' }),
    subject('vm-activity', `${failed}?tab=activity`),
    subject('vm-time-table', `${failed}?range=24h`, press('timeline:table')),
    subject('vm-menu', failed, choose(['vms:vm.more'], null), { floats: true }),
    subject('vm-edit', failed, choose(['vms:vm.more'], 'enrollment:edit'), { floats: true }),
    subject('vm-token', failed, choose(['vms:vm.more'], 'enrollment:token'), { floats: true }),
    subject('vm-hold', failed, choose(['vms:vm.more'], 'enrollment:hold'), { floats: true }),
    subject('vm-held', vm('held-1'), hold),
    subject('vm-delete', failed, choose(['vms:vm.more'], 'enrollment:delete'), { floats: true }),
    subject('vm-uninstall', failed, choose(['reports:card.more', { name: 'share' }], 'reports:card.uninstall'), {
      floats: true,
    }),
    subject('vm-force', failed, choose(['reports:card.more', { name: 'share' }], 'reports:card.force'), {
      floats: true,
    }),
  ];
}

async function revert({ page, say }: Scene): Promise<void> {
  const [before, after] = say('goal-states:revert', { incarnation: '|' }).split('|');
  await page.getByRole('button').filter({ hasText: before }).filter({ hasText: after }).first().click();
}

/** Puts the VM on hold; the page shows this without a reload. */
async function hold({ page, say, stage }: Scene): Promise<void> {
  const until = new Date(Date.now() + 14_400_000).toISOString();
  await stage.api('PUT', `/vms/${stage.vms['held-1']}/hold`, { reason: 'Storage move', until });
  await page.getByText(say('enrollment:hold.release')).first().waitFor();
}
