import { pageAddresses } from '../../e2e/support/page-addresses.ts';
import type { ScreenshotStage } from './stage.ts';
import { editorPages } from './subjects/editor.ts';
import { executionPages } from './subjects/executions.ts';
import { handlerPages } from './subjects/handlers.ts';
import { modelPages } from './subjects/models.ts';
import { overviewAndFleet } from './subjects/overview.ts';
import { rolloutForms } from './subjects/rollout-forms.ts';
import { rolloutPages } from './subjects/rollouts.ts';
import { runbookPages } from './subjects/runbooks.ts';
import { activityPages, settingsPages } from './subjects/settings.ts';
import { signInAndShell } from './subjects/shell.ts';
import { type Subject, subject } from './subjects/subject.ts';
import { vmPages } from './subjects/vms.ts';

/** URLs that only redirect. */
const redirections = ['/settings', '/second-factor'];

/** Returns all screenshots: every page, by the folders in `app/`, then the states that need a step. */
export function subjectsOf(stage: ScreenshotStage): Subject[] {
  return [
    ...everyPage(stage),
    ...signInAndShell(stage),
    ...overviewAndFleet(),
    ...vmPages(stage),
    ...modelPages(stage),
    ...editorPages(stage),
    ...handlerPages(stage),
    ...rolloutPages(stage),
    ...rolloutForms(stage),
    ...executionPages(stage),
    ...runbookPages(stage),
    ...activityPages(),
    ...settingsPages(),
  ];
}

function everyPage({ vms, handler, execution, runbook, rollouts, models }: ScreenshotStage): Subject[] {
  const parts = {
    vmId: vms['files-1'] ?? '',
    name: 'share',
    handler,
    version: '1.2.0.0',
    executionId: execution,
    runbook,
    id: rollouts.draft,
    model: models.few,
  };
  const labels = new Map(
    Object.entries({
      [parts.vmId]: 'vm',
      share: 'extension',
      [handler]: 'handler',
      '1.2.0.0': 'version',
      [execution]: 'execution',
      [runbook]: 'runbook',
      [rollouts.draft]: 'rollout',
      [models.few]: 'model',
    }),
  );
  return pageAddresses(parts)
    .filter((address) => !redirections.includes(address))
    .map((address) => {
      const segments = address.split('/').filter((segment) => segment !== '');
      const name = segments.map((segment) => labels.get(segment) ?? segment).join('-') || 'overview';
      return subject(name, address, undefined, { who: /^\/(sign-in|set-up)/.test(address) ? 'guest' : 'admin' });
    });
}
