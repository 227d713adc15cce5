import { expectAccessible } from './support/accessibility.ts';
import { expect, test } from './support/fabric.ts';
import { bootstrappedModel } from './support/model.ts';
import { publishFormula } from './support/services.ts';

/** Agents enroll, fetch a formula and run hooks on a machine that also runs other journeys. */
const patience = { timeout: 90_000 };
const tooSmall = 'store/0 has 64 MB, but the blog needs 100 MB. Lower the option megabytes of the blog.';
const tooSmallInGerman = 'store/0 hat 64 MB, das Blog braucht aber 100 MB. Senken Sie die Option megabytes des Blogs.';

interface ShownUnit {
  unit: string;
  stage: string;
  health: string;
  version: string;
  confirmedVersion: string | null;
}

test('two services are deployed, related, repaired, exposed, upgraded one unit after the other, taken back and removed', async ({
  signedIn,
  api,
  unique,
  console: watch,
}) => {
  test.setTimeout(420_000);
  // The page of a service reads it once more after its removal.
  watch.allow(/status of 404/);
  await api.ensurePublisher('Acme.Lab');
  await publishFormula(api, 'Acme.Lab.store', '1.0.0.0');
  for (const version of ['1.0.0.0', '1.1.0.0']) await publishFormula(api, 'Acme.Lab.blog', version);
  const model = await bootstrappedModel(api, `shop-${unique}`, { availabilitySetsEnabled: true });
  await api.call('PUT', `/models/${model}/services/store`, { body: { formula: 'Acme.Lab.store', version: '1.0.0.0' } });
  const unitsOf = async (service: string) =>
    (await api.call<{ units: ShownUnit[] }>('GET', `/models/${model}/services/${service}`)).units;
  const healthOf = async (service: string) => (await unitsOf(service)).map(({ health }) => health);

  const page = await signedIn('operator');
  await page.goto(`/models/${model}?view=services`);
  await test.step('deploy the blog, related to the store', async () => {
    await page.getByRole('button', { name: 'Deploy service' }).click();
    const dialog = page.getByRole('dialog', { name: `Deploy a service into ${model}` });
    const field = (name: string) => dialog.getByLabel(name, { exact: true });
    await expect(field('Formula'), 'the first field has the focus once it has loaded').toBeFocused();
    await field('Formula').selectOption('Acme.Lab.blog');
    await field('Version').selectOption('1.0.0.0');
    await field('Name in this model').fill('store');
    await expect(dialog.getByText('already has a service named store'), 'the name is taken').toBeVisible();
    await expect(dialog.getByRole('button', { name: /^Deploy/ })).toBeDisabled();
    await field('Name in this model').fill('blog');
    await field('Units').fill('2');
    await field('port').fill('8090');
    await field('megabytes').fill('100');
    await expect(dialog.getByRole('checkbox', { name: /^db to store:db/ })).toBeChecked();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Deploy 2 units' }).click();
    const once = page.getByRole('dialog', { name: '2 machines were added' });
    await expect(once.getByText('annex-agent enroll')).toHaveCount(2);
    await once.getByRole('button', { name: 'Done' }).click();
  });

  await test.step('its hook fails with its own message, in the language of the reader', async () => {
    const failing = async () =>
      (await api.call<{ failing: { hook: string }[] }>('GET', `/models/${model}/units/blog/0`)).failing;
    await expect.poll(failing, patience).toMatchObject([{ hook: 'db-relation-changed' }]);
    await page.goto(`/models/${model}/units/blog-0`);
    await expect(page.getByText(tooSmall).first()).toBeVisible();
    await expectAccessible(page);
    const german = await signedIn('viewer', { locale: 'de-DE' });
    await german.goto(`/models/${model}/units/blog-0`);
    await expect(german.getByText(tooSmallInGerman).first()).toBeVisible();
    await german.close();
  });

  await test.step('the setting is corrected, and the hook runs again', async () => {
    const lastFailure = async () =>
      (await api.call<{ failing: { run: string; failures: number }[] }>('GET', `/models/${model}/units/blog/0`))
        .failing[0];
    const unit = await page.context().newPage();
    await unit.goto(`/models/${model}/units/blog-0`);
    await page.goto(`/models/${model}/services/blog`);
    await page.getByRole('button', { name: 'Change settings' }).click();
    const dialog = page.getByRole('dialog', { name: 'Settings of blog' });
    await dialog.getByLabel('megabytes', { exact: true }).fill('32');
    await dialog.getByLabel('title', { exact: true }).fill('News');
    await dialog.getByLabel('How many units change at the same time', { exact: true }).selectOption('all');
    // The agent runs the hook again on its own, but not within the ten seconds after the third failure.
    const seen = await lastFailure();
    const failedAgain = async () => {
      const now = await lastFailure();
      return now?.run !== seen?.run && (now?.failures ?? 0) >= 3;
    };
    await expect.poll(failedAgain, patience).toBe(true);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await unit.getByRole('button', { name: 'Run again' }).click();
    await expect(dialog).toBeHidden();
    await unit.close();
    await api.call('POST', `/models/${model}/resolve`, { body: { service: 'blog', retry: true } });
    await expect.poll(() => healthOf('blog'), patience).toEqual(['healthy', 'healthy']);
  });

  let address = '';
  const answers = async (): Promise<string[]> => {
    const texts = await Promise.all(
      Array.from({ length: 4 }, () => fetch(`http://${address}:8090/`).then((answer) => answer.text(), String)),
    );
    return [...new Set(texts)].sort();
  };
  await test.step('it is exposed, and both units answer at the public address', async () => {
    await page.goto(`/models/${model}/services/blog`);
    await page.getByRole('button', { name: 'Actions on blog' }).click();
    await page.getByRole('menuitem', { name: 'Expose…' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Expose service' }).click();
    const shown = page.getByText(/^127\.85\.\d+\.\d+$/).first();
    await expect(shown).toBeVisible();
    address = (await shown.textContent()) ?? '';
    await expect
      .poll(answers, patience)
      .toEqual([
        expect.stringMatching(/<h1>News<\/h1>\n.*Store: 127\.\d+\.\d+\.\d+\. Unit: blog\/0\./),
        expect.stringMatching(/<h1>News<\/h1>\n.*Store: 127\.\d+\.\d+\.\d+\. Unit: blog\/1\./),
      ]);
  });

  const changeVersion = async (act: string, version: string) => {
    await page.getByRole('button', { name: 'Change version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the version of blog' });
    await dialog.getByRole('button', { name: act }).click();
    await expect(dialog).toBeHidden();
    let most = 0;
    const missing = async () => {
      const units = await unitsOf('blog');
      most = Math.max(most, units.filter((unit) => unit.version !== unit.confirmedVersion).length);
      return units.filter((unit) => unit.confirmedVersion !== version || unit.health !== 'healthy').length;
    };
    await expect.poll(missing, { ...patience, intervals: [200] }).toBe(0);
    expect(most).toBeLessThanOrEqual(1);
  };
  await test.step('it is upgraded one unit after the other, and taken back', async () => {
    await changeVersion('Upgrade to 1.1.0.0', '1.1.0.0');
    await expect.poll(answers, patience).toEqual(Array(2).fill(expect.stringContaining('Written with Blog 1.1')));
    await changeVersion('Go back to 1.0.0.0', '1.0.0.0');
    await expect.poll(answers, patience).toEqual(Array(2).fill(expect.not.stringContaining('Written with')));
  });

  await test.step('everything is removed', async () => {
    await page.getByRole('button', { name: 'Actions on blog' }).click();
    await page.getByRole('menuitem', { name: 'Destroy service…' }).click();
    const question = page.getByRole('alertdialog', { name: 'Destroy blog?' });
    await question.getByLabel('Type blog to continue').fill('blog');
    await question.getByRole('button', { name: 'Destroy service' }).click();
    await expect(page.getByRole('heading', { name: 'blog no longer exists' })).toBeVisible(patience);
    expect(await answers()).toEqual(['TypeError: fetch failed']);
    await api.call('DELETE', `/models/${model}?confirm=${model}`);
    const gone = () =>
      api.call('GET', `/models/${model}`, { status: 404 }).then(
        () => true,
        () => false,
      );
    await expect.poll(gone, patience).toBe(true);
  });
});
