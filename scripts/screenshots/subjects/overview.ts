import { press, type Scene, type Subject, subject } from './subject.ts';

/** The overview, the problems and the list of VMs. */
export function overviewAndFleet(): Subject[] {
  return [
    subject('overview-viewer', '/', undefined, { who: 'viewer' }),
    subject('attention-vms', '/attention', unfoldProblem),
    subject('attention-panel', '/attention', openProblemVm, { floats: true }),
    subject('attention-viewer', '/attention', openProblemVm, { who: 'viewer', floats: true }),
    subject('attention-snooze', '/attention', openSnoozeMenu, { floats: true }),
    subject('vms-new', '/vms', press('vms:enroll'), { floats: true }),
    subject('vms-none', '/vms?q=nothing-at-all'),
    subject('vms-filtered', '/vms?health=failed,degraded&tag=env%3Dprod'),
    subject('vms-filter', '/vms', press('vms:filter.health'), { floats: true }),
    subject('vms-columns', '/vms', press('vms:columns'), { floats: true, isWide: true }),
  ];
}

/** Expands the list of VMs of the first problem. */
async function unfoldProblem({ page }: Scene): Promise<void> {
  await page.locator('[data-triage-row]').first().click();
  await page.locator('li li [data-triage-row]').first().waitFor();
}

/** Opens the details of the first VM with the first problem. */
async function openProblemVm(scene: Scene): Promise<void> {
  await unfoldProblem(scene);
  await scene.page.locator('li li [data-triage-row]').first().click();
  await scene.page.locator('section article').waitFor();
}

/** Opens the snooze menu of the first problem. The button's name also contains the name of the problem. */
async function openSnoozeMenu({ page, say }: Scene): Promise<void> {
  await page
    .getByRole('button', { name: `${say('attention:snooze')} ` })
    .first()
    .click();
}
