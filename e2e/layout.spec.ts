import type { Page } from '@playwright/test';
import { pageInTwoParts } from './support/page-in-two-parts.ts';
import { ReportingMachine } from './support/reporting-machine.ts';
import { publishSamples, sampleGoal } from './support/samples.ts';
import { isSeen, recordShifts, type Shift, shiftsOf } from './support/shifts.ts';
import { expect, test } from './support/test.ts';

const probe = 'Acme.Lab.Probe';
const mount = 'Northwind.Storage.Mount';

test.beforeAll(({ api }) => publishSamples(api, [probe, mount]));

test('the buttons of a header do not move while the rest of the page arrives', async ({ signedIn, portal }) => {
  const page = await signedIn('admin');
  await page.addInitScript(recordShifts);
  const served = await pageInTwoParts(portal.url, `/handlers/${probe}/1.1.0.0`, 'Add language<');
  const loaded = page.goto(served.url);
  await expect(page.getByRole('heading', { name: 'Messages', exact: true })).toBeVisible();
  await shiftsOf(page);
  await expect(page.getByRole('button', { name: 'Upload files' })).toHaveCount(0);
  served.finish();
  await loaded;
  await expect(page.getByRole('button', { name: 'Upload files' })).toBeVisible();
  expect((await shiftsOf(page)).filter(isSeen)).toEqual([]);
  await page.close();
  served.close();
});

test('reports that keep arriving move nothing on the pages that show them', { tag: '@long' }, async ({
  signedIn,
  api,
  portal,
  unique,
}) => {
  const vm = await api.createVm(`calm-${unique}`);
  await api.setExtension(vm.id, 'watch', sampleGoal(probe));
  const machine = await ReportingMachine.start(portal.gatewayUrl, vm, 'watch');
  const pages: Record<string, Page> = {};
  for (const address of [`/vms/${vm.id}`, '/vms', '/', '/attention']) {
    const page = await signedIn('operator');
    await page.addInitScript(recordShifts);
    await page.goto(address);
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    pages[address] = page;
  }
  const card = pages[`/vms/${vm.id}`]!.getByRole('article', { name: 'watch' });
  await expect(card).toContainText('Report');
  for (const page of Object.values(pages)) {
    await shiftsOf(page);
    await page.evaluate(() => (window as unknown as { shifts: Shift[] }).shifts.splice(0));
  }
  const shown = async () => Number(/Report (\d+)/.exec((await card.textContent()) ?? '')?.[1]);
  const first = await shown();
  await expect.poll(shown, { timeout: 60_000 }).toBeGreaterThan(first + 50);
  await machine.stop();
  for (const [address, page] of Object.entries(pages)) {
    expect((await shiftsOf(page)).filter(isSeen), `what moved on ${address}`).toEqual([]);
  }
});

test('nothing below the “why” card moves when there is nothing left to explain', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`why-${unique}`);
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: false }));
  await startAgent(vm);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const why = page.getByRole('region', { name: 'Why the VM isn’t done' });
  const below = page.getByRole('region', { name: 'Extensions' });
  await expect(why).toContainText('exit code 51');
  await expect(
    why
      .getByRole('button', { name: 'Revert' })
      .or(why.getByRole('link', { name: 'Edit share' }))
      .first(),
  ).toBeVisible();
  await page.evaluate(recordTops);

  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: true }));
  const reached = page.getByText('The VM has reached its goal state.');
  await expect(reached).toBeVisible({ timeout: 30_000 });
  await expect(why).toHaveCount(0);
  const { last, first } = await page.evaluate(() => (window as unknown as { tops: Tops }).tops);
  expect(first, 'the extensions stay where they were').toBe(last);
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(reached).toHaveCount(0);
  const box = await below.boundingBox();
  expect(box?.y, 'the space goes with the reader’s click').toBeLessThan(last);
});

interface Tops {
  /** The top of the extensions in the last frame with the “why” card, and in the first frame without it. */
  last: number;
  first: number | null;
}

/** Records, in every frame, where the extensions are. */
function recordTops(): void {
  const tops: Tops = { last: 0, first: null };
  Object.assign(window, { tops });
  const look = () => {
    const title = [...document.querySelectorAll('h2')].some(
      ({ textContent }) => textContent === 'Why the VM isn’t done',
    );
    const top = document.querySelector('#extensions')?.getBoundingClientRect().top ?? Number.NaN;
    if (title) tops.last = top;
    else tops.first ??= top;
    requestAnimationFrame(look);
  };
  look();
}

/** Records, in every frame, the colors of these buttons. Returns a function that returns what was seen so far. */
async function recordColours(page: Page, buttons: string): Promise<() => Promise<Record<string, string[]>>> {
  await page.evaluate((selector) => {
    const seen: Record<string, string[]> = {};
    Object.assign(window, { colours: seen });
    const look = () => {
      for (const button of document.querySelectorAll<HTMLElement>(selector)) {
        const { color, backgroundColor } = getComputedStyle(button);
        // biome-ignore lint/performance/useDomNodeTextContent: of two labels, only one is visible
        const name = button.getAttribute('aria-label') ?? button.innerText.trim();
        const colours = `${color} on ${backgroundColor}`;
        seen[name] ??= [];
        if (seen[name].at(-1) !== colours) seen[name].push(colours);
      }
      requestAnimationFrame(look);
    };
    look();
  }, buttons);
  return () =>
    page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
      return (window as unknown as { colours: Record<string, string[]> }).colours;
    });
}

test('button labels change their color in one step, with the theme and while a request runs', { tag: '@long' }, async ({
  signedIn,
  api,
  startAgent,
  unique,
}) => {
  const vm = await api.createVm(`colour-${unique}`);
  await api.setExtension(vm.id, 'share', sampleGoal(mount, { reachable: false }));
  await startAgent(vm);
  const page = await signedIn('operator');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`/vms/${vm.id}`);
  const retry = page.getByRole('region', { name: 'Why the VM isn’t done' }).getByRole('button', { name: 'Try again' });
  await expect(retry).toBeVisible();

  await test.step('light to dark', async () => {
    const seen = await recordColours(page, 'main button, main a[class*="select-none"]');
    const before = await seen();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(async () => (await seen())['Try again']?.length).toBeGreaterThan(1);
    const after = await seen();
    const flashed = Object.entries(after).filter(([name, looks]) => looks.length > (before[name]?.length ?? 0) + 1);
    expect(flashed).toEqual([]);
  });

  await test.step('under the pointer, and while the request runs', async () => {
    await page.reload();
    const gate = Promise.withResolvers<void>();
    await page.route(
      (url) => url.pathname.endsWith('goalStates.retryExtension'),
      async (route) => {
        await gate.promise;
        await route.continue();
      },
    );
    await expect(retry).toBeVisible();
    await retry.evaluate((button) => button.setAttribute('data-watched', ''));
    const seen = await recordColours(page, '[data-watched]');
    await retry.hover();
    await expect.poll(async () => (await seen())['Try again']?.length).toBe(2);
    await page.mouse.down();
    await page.mouse.up();
    await expect(page.getByRole('button', { name: 'Requesting…' }).first()).toBeVisible();
    const whileBusy = (await seen())['Requesting…'];
    expect(whileBusy, 'the label keeps the colours that it has under the pointer').toEqual([
      (await seen())['Try again']?.at(-1),
    ]);
    gate.resolve();
    await expect(page.getByRole('button', { name: 'Requesting…' })).toHaveCount(0);
  });
});
