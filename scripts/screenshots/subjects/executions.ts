import type { ScreenshotStage } from '../stage.ts';
import { type Act, button, choose, press, type Subject, subject } from './subject.ts';

/** The executions of the fleet and of a VM, and one execution in every state. */
export function executionPages({ executions }: ScreenshotStage): Subject[] {
  const { vmId, busyId, ids } = executions;
  const at = (id: string, vm = vmId) => `/vms/${vm}/executions/${id}`;
  const failed = at(ids.failed);
  const isViewer = { who: 'viewer' } as const;
  const floats = { floats: true };
  return [
    subject('executions-plans', '/executions?view=plans'),
    subject('executions-none', '/executions?q=nothing-at-all'),
    subject('executions-filtered', '/executions?state=failed'),
    subject('executions-viewer', '/executions', undefined, isViewer),
    subject('executions-failed', '/executions', fail('executions.list')),
    subject('vm-executions', `/vms/${busyId}?tab=executions`),
    subject('vm-executions-past', `/vms/${vmId}?tab=executions`),
    subject('vm-executions-viewer', `/vms/${busyId}?tab=executions`, undefined, isViewer),
    subject('vm-executions-cancel', `/vms/${busyId}?tab=executions`, press('executions:cancel'), floats),
    ...(['succeeded', 'failed', 'timed-out', 'canceled', 'lost', 'declined'] as const).map((state) =>
      subject(`execution-${state}`, at(ids[state])),
    ),
    subject('execution-running', at(ids.running, busyId), ({ stage }) => stage.executions.write(), floats),
    subject('execution-running-page', at(ids.running, busyId)),
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
    subject('execution-log-failed', failed, fail('executions.log')),
    subject('execution-json', failed, ({ page }) => page.getByRole('radio', { name: 'JSON' }).last().click()),
    subject('execution-menu', failed, choose(['executions:more'], null), floats),
    subject('execution-again', at(ids.lost), press('executions:again'), floats),
    subject('compare', `${failed}/compare?with=${ids.succeeded}`),
    subject('plan-new', `/vms/${vmId}/executions/new`),
    subject('plan-faults', `/vms/${vmId}/executions/new`, async ({ page, say }) => {
      await page.getByRole('textbox', { name: say('executions:run.plan') }).click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText('{ "FormatVersion": "2.0.0", "Name": 7, "Body": "return hello()" }');
      await page.getByRole('region', { name: say('executions:check') }).getByRole('button').first().waitFor();
    }),
    subject('plan-viewer', `/vms/${vmId}/executions/new`, undefined, isViewer),
  ];
}

/** Reloads the page so that a call of it fails. */
export const fail =
  (procedure: string): Act =>
  async ({ page }) => {
    await page.route(`**/api/trpc/${procedure}**`, (route) => route.abort());
    await page.reload();
    await page.locator('[role=alert]').first().waitFor();
  };

/** The list of runbooks, one runbook, its editor and its form. */
export function runbookPages({ executions }: ScreenshotStage): Subject[] {
  const { runbook, vmId } = executions;
  const at = `/runbooks/${runbook}`;
  const isViewer = { who: 'viewer' } as const;
  const floats = { floats: true };
  const form = `/vms/${vmId}/executions/run?runbook=${runbook}`;
  return [
    subject('runbooks-none', '/runbooks?q=nothing-at-all', async ({ page, say }) => {
      await page.getByRole('searchbox', { name: say('runbooks:list.search') }).fill('nothing at all');
    }),
    subject('runbooks-viewer', '/runbooks', undefined, isViewer),
    subject('runbooks-new', '/runbooks', press('runbooks:new'), floats),
    subject('runbook-draft', `${at}?version=1.3.0`),
    subject('runbook-published', `${at}?version=1.2.0`),
    subject('runbook-withdrawn', `${at}?version=1.1.0`),
    subject('runbook-viewer', `${at}?version=1.2.0`, undefined, isViewer),
    subject(
      'runbook-publish',
      `${at}?version=1.3.0`,
      ({ page, say }) => button(page, say('runbooks:act.publish', { version: '1.3.0' })).click(),
      floats,
    ),
    subject(
      'runbook-withdraw',
      `${at}?version=1.2.0`,
      choose(['runbooks:act.more', { version: '1.2.0' }], null),
      floats,
    ),
    subject('runbook-choose-vm', `${at}?version=1.2.0`, press('runbooks:act.run'), floats),
    subject('runbook-edit-warnings', `${at}/edit?version=1.3.0`),
    subject('runbook-edit-json', `${at}/edit?version=1.3.0`, ({ page }) =>
      page.getByRole('radio', { name: 'JSON' }).first().click(),
    ),
    subject('runbook-edit-viewer', `${at}/edit`, undefined, isViewer),
    subject('runbook-run', form),
    subject('runbook-run-faults', form, async ({ page, say }) => {
      await page.getByRole('textbox').first().fill('');
      await page.getByRole('button', { name: say('runbooks:run.act', { name: '|' }).split('|')[0]?.trim() ?? '' }).last().click();
      await page.getByRole('region', { name: say('runbooks:run.faults') }).waitFor();
    }),
    subject('runbook-run-json', form, ({ page }) => page.getByRole('radio', { name: 'JSON' }).click()),
    subject('runbook-run-choose', `/vms/${vmId}/executions/run`),
    subject('runbook-run-viewer', form, undefined, isViewer),
  ];
}
