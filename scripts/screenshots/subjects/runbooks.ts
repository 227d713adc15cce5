import type { ScreenshotStage } from '../stage.ts';
import { button, choose, press, type Subject, subject } from './subject.ts';

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
      await page
        .getByRole('button', { name: say('runbooks:run.act', { name: '|' }).split('|')[0]?.trim() ?? '' })
        .last()
        .click();
      await page.getByRole('region', { name: say('runbooks:run.faults') }).waitFor();
    }),
    subject('runbook-run-json', form, ({ page }) => page.getByRole('radio', { name: 'JSON' }).click()),
    subject('runbook-run-choose', `/vms/${vmId}/executions/run`),
    subject('runbook-run-viewer', form, undefined, isViewer),
  ];
}
