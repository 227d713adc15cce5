import type { Page } from '@playwright/test';
import { pageAddresses } from '../../e2e/support/page-addresses.ts';
import { zipOf } from '../../e2e/support/zip.ts';
import type { Speech } from './speech.ts';
import type { ScreenshotStage } from './stage.ts';

/** What a screenshot's step gets: the page, texts in the reader's language, and the ids of the data. */
interface Scene {
  page: Page;
  say: Speech;
  stage: ScreenshotStage;
}

/** A screenshot: its URL, the account that opens it, and a step to perform before it is taken. */
export interface Subject {
  name: string;
  address: string;
  who: 'admin' | 'viewer' | 'guarded' | 'guest';
  act?(scene: Scene): Promise<void>;
  /** Captures the window instead of the whole page, as dialogs and menus need. */
  floats?: boolean;
  /** Whether to skip small widths. */
  isWide?: boolean;
}

type Act = NonNullable<Subject['act']>;

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first();
const press =
  (...keys: Parameters<Speech>[0][]): Act =>
  async ({ page, say }) => {
    for (const key of keys) await button(page, say(key)).click();
  };
const typeKeys =
  (keys: string, text = ''): Act =>
  async ({ page }) => {
    await page.keyboard.press(keys);
    if (text === '') return;
    await page.locator('[role=combobox]:focus').waitFor();
    await page.keyboard.type(text);
  };
/** Opens a button's menu and selects an item. */
const choose =
  (menu: Parameters<Speech>, item: Parameters<Speech>[0] | null): Act =>
  async ({ page, say }) => {
    await button(page, say(...menu)).click();
    if (item !== null) await page.getByRole('menuitem', { name: say(item), exact: true }).click();
  };

/** URLs that only redirect. */
const redirections = ['/settings', '/second-factor'];

/** Returns all screenshots: every page, by the folders in `app/`, then the states that need a step. */
export function subjectsOf(stage: ScreenshotStage): Subject[] {
  return [
    ...everyPage(stage),
    ...signInAndShell(stage),
    ...overviewAndFleet(),
    ...vmPages(stage),
    ...editorPages(stage),
    ...handlerPages(stage),
    ...rolloutPages(stage),
    ...activityPages(),
    ...settingsPages(),
  ];
}

const vmAddress = (stage: ScreenshotStage, name: string, rest = ''): string => `/vms/${stage.vms[name]}${rest}`;

/** The sign-in pages, and parts that all pages share. */
function signInAndShell(stage: ScreenshotStage): Subject[] {
  return [
    subject('set-up-join', stage.invitation, undefined, { who: 'guest' }),
    subject('sign-in-wrong', '/sign-in', signIn('nobody@example.org', 'not the password'), { who: 'guest' }),
    subject(
      'sign-in-code',
      '/sign-in',
      ({ stage: { guarded }, ...scene }) => signIn(guarded.email, guarded.password)({ ...scene, stage }),
      { who: 'guest' },
    ),
    subject('not-found', '/nowhere', undefined, { who: 'guest' }),
    subject('palette', '/handlers', typeKeys('Control+k', 'files'), { floats: true }),
    subject('palette-nothing', '/handlers', typeKeys('Control+k', 'nothing at all'), { floats: true }),
    subject('keys', '/vms', typeKeys('?'), { floats: true }),
    subject(
      'account-menu',
      '/handlers',
      ({ page, say }) =>
        page
          .getByRole('button', { name: say('navigation:account') })
          .locator('visible=true')
          .click(),
      { floats: true },
    ),
    subject('connection-lost', '/vms', loseConnection),
  ];
}

function overviewAndFleet(): Subject[] {
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

function vmPages(stage: ScreenshotStage): Subject[] {
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

function editorPages(stage: ScreenshotStage): Subject[] {
  const vm = (name: string, rest = '') => vmAddress(stage, name, rest);
  const failed = vmAddress(stage, 'files-1');
  const past = vmAddress(stage, 'past-1');
  return [
    subject('editor-new', `${failed}/add-extension?handler=Northwind.Storage.Mount`),
    subject('editor-plan', `${past}/extensions/share`, changeSettings),
    subject('editor-diff', `${past}/extensions/share`, async (scene) => {
      await changeSettings(scene);
      await scene.page.getByRole('radio', { name: scene.say('editor:changes.json'), exact: true }).click();
    }),
    subject('editor-fault', `${past}/extensions/share`, async (scene) => replaceJson(scene, '{ "server": 3, "user": ')),
    subject('editor-secret', `${past}/extensions/share`, async ({ page, say }) =>
      page
        .getByRole('button')
        .filter({ hasText: say('editor:protected.changeOne') })
        .first()
        .click(),
    ),
    subject('editor-conflict', `${past}/extensions/snapshots`, conflict),
    subject('editor-withdrawn', vm('web-1', '/extensions/studio')),
    subject(
      'editor-leave',
      `${past}/extensions/share`,
      async (scene) => {
        await changeSettings(scene);
        await scene.page.getByRole('link', { name: scene.say('editor:foot.discard') }).click();
      },
      { floats: true },
    ),
    subject('editor-viewer', `${past}/extensions/share`, undefined, { who: 'viewer' }),
  ];
}

function handlerPages(stage: ScreenshotStage): Subject[] {
  const draft = `/handlers/${stage.handler}/1.2.0.0`;
  return [
    subject('handlers-none', '/handlers?q=nothing-at-all'),
    subject('handler-demo', '/handlers/Northwind.Storage.Mount'),
    subject('handler-viewer', `/handlers/${stage.handler}`, undefined, { who: 'viewer' }),
    subject(
      'handler-withdraw',
      `/handlers/${stage.handler}`,
      choose(['packages:versions.acts', { version: '1.1.0.0' }], 'packages:act.withdraw'),
      { floats: true },
    ),
    subject('handler-table', `/handlers/${stage.handler}`, ({ page, say }) =>
      page.getByText(say('packages:adoption.table')).click(),
    ),
    subject('version-withdrawn', `/handlers/${stage.handler}/1.0.0.0`),
    subject('version-published', `/handlers/${stage.handler}/1.1.0.0`),
    subject('version-messages', draft, writeMessage),
    subject('version-xliff-export', draft, press('localization:xliff.export'), { floats: true }),
    subject('version-xliff-import', draft, importXliff, { floats: true }),
    subject(
      'version-publish',
      draft,
      ({ page, say }) => button(page, say('packages:publish.act', { version: '1.2.0.0' })).click(),
      { floats: true },
    ),
    subject('compare-other', `/handlers/${stage.handler}/compare?a=1.0.0.0&b=1.1.0.0`),
    subject('publish-named', '/publish', ({ page }) => givePackage(page)),
    subject('publish-faults', '/publish', async ({ page, say }) => {
      await givePackage(page);
      await button(page, say('packages:name.send')).click();
      await page.getByRole('alert').first().waitFor();
    }),
    subject('publish-viewer', '/publish', undefined, { who: 'viewer' }),
  ];
}

function rolloutPages({ rollouts }: ScreenshotStage): Subject[] {
  const bulk: Act = async ({ page, say }) => {
    await page.getByRole('button', { name: say('vms:bulk.selectAll', { count: 24, n: '24' }) }).click();
    await page.getByRole('region', { name: say('rollouts:bulk.label') }).waitFor();
  };
  const act = ({ page, say }: Scene) => button(page, say('rollouts:bulk.act.disable')).click();
  const stored = rollouts.stored;
  return [
    subject('rollouts-none', '/rollouts?q=nothing-at-all'),
    subject('rollouts-viewer', '/rollouts', undefined, { who: 'viewer' }),
    subject('rollouts-disconnected', '/rollouts', disconnect),
    subject('rollout-running', `/rollouts/${rollouts.running}`),
    subject('rollout-paused', `/rollouts/${rollouts.paused}`),
    subject('rollout-paused-viewer', `/rollouts/${rollouts.paused}`, undefined, { who: 'viewer' }),
    subject('rollout-resume', `/rollouts/${rollouts.paused}`, press('rollouts:act.resumeDespite'), { floats: true }),
    subject('rollout-planned', `/rollouts/${rollouts.planned}`),
    ...Object.entries(stored).map(([state, id]) => subject(`rollout-${state}`, `/rollouts/${id}`)),
    subject('rollout-halted-viewer', `/rollouts/${stored.halted}`, undefined, { who: 'viewer' }),
    subject('rollout-halted-disconnected', `/rollouts/${stored.halted}`, disconnect),
    subject('rollout-halted-cards-failed', `/rollouts/${stored.halted}`, failCards),
    subject('rollout-halted-table', `/rollouts/${stored.halted}`, async ({ page, say }) => {
      const tables = page.getByRole('button', { name: say('rollouts:live.cells.table'), exact: true });
      for (const index of [1, 0]) await tables.nth(index).click();
    }),
    subject('rollout-stopped-edit', `/rollouts/${stored.stopped}/edit`),
    subject('rollout-plan', `/rollouts/${rollouts.planned}/edit`, planned),
    subject('rollout-plan-windows', `/rollouts/${rollouts.planned}/edit`, async (scene) => {
      await planned(scene);
      await button(scene.page, scene.say('rollouts:new.window.add')).click();
      await planned(scene);
    }),
    subject('rollout-plan-gates', `/rollouts/${rollouts.planned}/edit`, async (scene) => {
      const { page, say } = scene;
      await planned(scene);
      await page
        .getByRole('group', { name: say('rollouts:new.gates.perRing') })
        .getByRole('button')
        .first()
        .click();
      await planned(scene);
    }),
    subject('rollout-plan-json', `/rollouts/${rollouts.planned}/edit`, async (scene) => {
      await planned(scene);
      await scene.page.getByText('JSON', { exact: true }).click();
      await scene.page.locator('.cm-content').waitFor();
    }),
    subject(
      'rollout-strategy',
      `/rollouts/${rollouts.planned}/edit`,
      async (scene) => {
        await planned(scene);
        await press('rollouts:new.strategy.save')(scene);
      },
      { floats: true },
    ),
    subject('rollout-new-viewer', '/rollouts/new', undefined, { who: 'viewer' }),
    subject('bulk-bar', '/vms?tag=fleet%3Dpictures', bulk, { floats: true }),
    subject(
      'bulk-dialog',
      '/vms?tag=fleet%3Dpictures&handler=Northwind.Storage.Mount',
      async (scene) => {
        await bulk(scene);
        await act(scene);
        await scene.page.getByText(scene.say('rollouts:new.plan.ready')).waitFor({ state: 'attached' });
      },
      { floats: true },
    ),
  ];
}

/** Waits for the plan of a rollout's form. */
const planned: Act = ({ page, say }) =>
  page.getByText(say('rollouts:new.plan.ready')).waitFor({ state: 'attached', timeout: 30_000 });

/** Reloads the page without its live connection, and waits until the page says so. */
const disconnect: Act = async ({ page, say }) => {
  await page.route('**/api/trpc/live**', (route) => route.abort());
  await page.reload();
  await page.getByText(say('navigation:live.lost')).first().waitFor({ timeout: 30_000 });
};

/** Reloads the page so that every card that loads later fails. */
const failCards: Act = async ({ page }) => {
  await page.route('**/api/trpc/rollouts.**', (route) => route.abort());
  await page.reload();
  await page.locator('[role=alert], [data-st=failed]').first().waitFor();
};

function activityPages(): Subject[] {
  return [
    subject('activity-none', '/activity?q=nothing-at-all'),
    subject('activity-filtered', '/activity?action=extension&q=share'),
    subject('activity-open', '/activity?action=extension', async ({ page, say }) => {
      for (const index of [0, 0, 0])
        await page
          .getByRole('button', { name: say('activity:contents.show') })
          .nth(index)
          .click();
    }),
  ];
}

function settingsPages(): Subject[] {
  return [
    subject('account-guarded', '/settings/account', undefined, { who: 'guarded' }),
    subject('account-app', '/settings/account', press('account:totp.add'), { floats: true }),
    subject('account-password', '/settings/account', press('account:password.act'), { floats: true }),
    subject('members-invite', '/settings/members', press('settings:invite'), { floats: true }),
    subject(
      'members-invite-publisher',
      '/settings/members',
      async (scene) => {
        await press('settings:invite')(scene);
        const dialog = scene.page.getByRole('dialog');
        await dialog.getByLabel(scene.say('settings:role')).selectOption('publisher');
        await button(scene.page, scene.say('settings:namespaces.new')).click();
        await button(scene.page, scene.say('settings:invite.act')).click();
      },
      { floats: true },
    ),
    subject('members-viewer', '/settings/members', undefined, { who: 'viewer' }),
    subject('token-new', '/settings/tokens', press('settings:tokens.create'), { floats: true }),
    subject(
      'token-made',
      '/settings/tokens',
      async (scene) => {
        await press('settings:tokens.create')(scene);
        const dialog = scene.page.getByRole('dialog');
        await dialog.getByLabel(scene.say('settings:name'), { exact: true }).fill('ci-publish');
        await button(scene.page, scene.say('settings:tokens.create.act')).click();
        await dialog
          .getByText(/annex_/)
          .first()
          .waitFor();
      },
      { floats: true },
    ),
  ];
}

function subject(name: string, address: string, act?: Act, rest: Partial<Subject> = {}): Subject {
  return { name, address, who: 'admin', ...(act && { act }), ...rest };
}

function everyPage({ vms, handler, execution, runbook, rollouts }: ScreenshotStage): Subject[] {
  const parts = {
    vmId: vms['files-1'] ?? '',
    name: 'share',
    handler,
    version: '1.2.0.0',
    executionId: execution,
    runbook,
    id: rollouts.draft,
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

function signIn(email: string, password: string): Act {
  return async ({ page, say }) => {
    await page.getByLabel(say('auth:signIn.email')).fill(email);
    await page.getByLabel(say('auth:signIn.password'), { exact: true }).fill(password);
    await button(page, say('auth:signIn.act')).click();
    await page
      .getByRole('alert')
      .or(page.getByLabel(say('auth:factor.totp')))
      .filter({ visible: true })
      .first()
      .waitFor();
  };
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

async function loseConnection({ page, say }: Scene): Promise<void> {
  await page.route(/\/api\/trpc\/live\./, (route) => route.abort());
  await page.reload();
  await page.getByText(say('navigation:live.lost.title')).first().waitFor({ timeout: 60_000 });
}

async function replaceJson({ page, say }: Scene, text: string): Promise<void> {
  await page.getByRole('textbox', { name: say('editor:json.label') }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

async function changeSettings(scene: Scene): Promise<void> {
  await replaceJson(scene, '{ "server": "three.example.net", "user": "backup", "reachable": false }');
  await scene.page.getByRole('region', { name: scene.say('editor:plan.steps') }).waitFor();
}

/** Changes the same goal through the API while the form has unsaved changes. */
async function conflict(scene: Scene): Promise<void> {
  const { page, say, stage } = scene;
  await replaceJson(scene, '{ "retain": 14 }');
  const at = `/vms/${stage.vms['past-1']}/extensions/snapshots`;
  const { publicSettings } = await stage.api<{ publicSettings: { retain?: number } }>('GET', at);
  const settings = { publicSettings: { retain: (publicSettings.retain ?? 0) === 7 ? 8 : 7 } };
  const goal = {
    handler: 'Northwind.Backup.Snapshot',
    version: '1.2.0.0',
    state: 'enabled',
    dependsOn: ['share'],
    settings,
  };
  await stage.api('PUT', at, goal);
  await button(page, say('editor:live.compare')).click();
}

async function writeMessage({ page, say }: Scene): Promise<void> {
  const missing = page.getByRole('button', { name: say('localization:cell', { lang: 'de', id: 'target_reached' }) });
  await missing.click();
  await page
    .getByLabel(say('localization:cell', { lang: 'de', id: 'target_reached' }))
    .fill('{0} ist erreichbar, {3}.');
}

async function importXliff(scene: Scene): Promise<void> {
  const { page, say, stage } = scene;
  const address = `/upload/handlers/${stage.handler}/versions/1.2.0.0/resources/de.xlf?xliff=1.2`;
  const text = await page.evaluate(async (from) => (await fetch(from)).text(), address);
  const units = /<trans-unit id="target_reached"(.*?)<\/source>/s;
  const back = text.replace(units, (unit) => `${unit}<target>{0} ist erreicht.</target>`);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'back.xlf', mimeType: 'application/xliff+xml', buffer: Buffer.from(back) });
  await page.getByRole('dialog', { name: say('localization:xliff.title', { lang: 'de' }) }).waitFor();
}

/** Selects a zip whose manifest has several errors. */
async function givePackage(page: Page): Promise<void> {
  const handlerManifest = {
    installCommand: 'bin/install.sh',
    updateCommand: '../elsewhere/update.sh',
    reportHeartbeat: 'yes',
  };
  const buffer = await zipOf({
    'HandlerManifest.json': JSON.stringify([{ version: 1, handlerManifest }], null, 2),
    'bin/install.sh': '#!/bin/sh\r\nexit 0\r\n',
  });
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'Studio.Lab.Broken-1.0.0.0.zip', mimeType: 'application/zip', buffer });
}
