import type { ScreenshotStage } from '../stage.ts';
import { choose, press, type Subject, subject } from './subject.ts';

/** The executions of the fleet and of a VM, and one execution in every state. */
export function executionPages({ executions }: ScreenshotStage): Subject[] {
  const { vmId, busyId, quietId, ids } = executions;
  const at = (id: string, vm = vmId) => `/vms/${vm}/executions/${id}`;
  const failed = at(ids.failed);
  const isViewer = { who: 'viewer' } as const;
  const floats = { floats: true };
  return [
    subject('executions-plans', '/executions?view=plans'),
    subject('executions-none', '/executions?q=nothing-at-all'),
    subject('executions-filtered', '/executions?state=failed'),
    subject('executions-viewer', '/executions', undefined, isViewer),
    subject('executions-failed', '/executions', async ({ page, say }) => {
      await page.route('**/api/trpc/executions.list**', (route) => route.abort());
      await page.getByRole('searchbox', { name: say('executions:filter.q') }).fill('certificates');
      await page.getByText(say('executions:failed')).first().waitFor();
    }),
    subject('vm-executions', `/vms/${busyId}?tab=executions`),
    subject('vm-executions-past', `/vms/${vmId}?tab=executions`),
    subject('vm-executions-viewer', `/vms/${busyId}?tab=executions`, undefined, isViewer),
    subject('vm-executions-cancel', `/vms/${busyId}?tab=executions`, press('executions:cancel'), floats),
    ...(['succeeded', 'failed', 'timed-out', 'canceled', 'lost', 'declined'] as const).map((state) =>
      subject(`execution-${state}`, at(ids[state])),
    ),
    subject('execution-running', at(ids.running, busyId), ({ stage }) => stage.executions.write(), floats),
    subject('execution-running-page', at(ids.running, busyId)),
    subject('execution-quiet', at(ids.quiet, quietId)),
    subject('vm-executions-quiet', `/vms/${quietId}?tab=executions`),
    subject('execution-queued', at(ids.queued, busyId)),
    subject('execution-approval', at(ids.approval, busyId)),
    subject('execution-approve', at(ids.approval, busyId), press('executions:approval.approve'), floats),
    subject('execution-decline', at(ids.approval, busyId), press('executions:approval.decline'), floats),
    subject('execution-cancel', at(ids.running, busyId), press('executions:cancel.act'), floats),
    subject('execution-viewer', failed, undefined, isViewer),
    subject('execution-line', `${failed}#L60-L64`, undefined, floats),
    subject('execution-error', failed, press('executions:log.firstError.show')),
    subject('execution-search', failed, async ({ page, say }) => {
      await page.getByRole('searchbox', { name: say('executions:log.search') }).fill('warn');
      await page.keyboard.press('Enter');
    }),
    subject('execution-search-none', failed, ({ page, say }) =>
      page.getByRole('searchbox', { name: say('executions:log.search') }).fill('nothing at all'),
    ),
    subject(
      'execution-log-failed',
      `${failed}#L3000`,
      async ({ page, say }) => {
        await page.route('**/api/trpc/executions.log**', (route) => route.abort());
        await page.reload();
        await page.getByText(say('executions:log.partFailed')).first().waitFor();
      },
      floats,
    ),
    subject('execution-json', failed, ({ page }) => page.getByRole('radio', { name: 'JSON' }).last().click()),
    subject('execution-menu', at(ids.running, busyId), choose(['executions:more'], null), floats),
    subject('compare', `${failed}/compare?with=${ids.succeeded}`),
    subject('plan-new', `/vms/${vmId}/executions/new`),
    subject('plan-faults', `/vms/${vmId}/executions/new`, async ({ page, say }) => {
      await page.getByRole('textbox', { name: say('executions:run.plan') }).click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText('{ "FormatVersion": "2.0.0", "Name": 7, "Body": "return hello()" }');
      await page
        .getByRole('region', { name: say('executions:check') })
        .getByRole('button')
        .first()
        .waitFor();
    }),
    subject('plan-viewer', `/vms/${vmId}/executions/new`, undefined, isViewer),
  ];
}
