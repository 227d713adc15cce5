import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { programBin } from '#server/testing/programs.ts';
import { expectAccessibleInBothThemes } from './support/accessibility.ts';
import { sampleGoal } from './support/samples.ts';
import { expect, test } from './support/test.ts';

test.use({ portalGroup: 'first-machine' });

/** Runs a command as a person would in a terminal of the machine. */
function type(command: string, folder: string): ChildProcess {
  return spawn('sh', ['-c', command], {
    cwd: folder,
    // Excludes the Node that runs this test, so that the installer must provide Node. The last folder contains curl if
    // the system lacks it.
    env: {
      NODE_ENV: 'production',
      PATH: `/usr/sbin:/usr/bin:/sbin:/bin:${programBin}`,
      ANNEX_AGENT_WAAGENT_FOLDER: 'none',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

test('on an empty portal, the first machine is healthy after one command, and the pages show each step', async ({
  signedIn,
  unique,
}) => {
  // The machine downloads Node, more than 100 MB, and writes it to disk.
  test.setTimeout(180_000);
  const folder = mkdtempSync(path.join(tmpdir(), 'annex-first-machine-'));
  const page = await signedIn('admin');
  let clicks = 0;
  const click = async (name: string) => {
    clicks += 1;
    await page.getByRole('button', { name }).click();
  };
  await page.goto('/');
  const step = (name: string) =>
    page
      .getByRole('region', { name: 'Three steps' })
      .getByRole('listitem')
      .filter({
        has: page.getByRole('heading', { name }),
      });
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'Publish the sample' }).click();
  await expect(step('Publish a handler')).toContainText('Done');
  await click('Enroll a VM');
  await page.getByLabel('Name').fill(`first-${unique}`);
  await click('Create VM');
  const dialog = page.getByRole('dialog');
  const progress = dialog.getByRole('region', { name: `Progress of first-${unique}` });
  await expect(progress.getByRole('status')).toContainText('Waiting for the machine');
  await expect(dialog.getByText('is an address of the machine that runs Annex')).toContainText('Set HOST');
  await expect(dialog.getByText('The token is valid until')).toBeVisible();
  await expectAccessibleInBothThemes(page);

  const shown =
    (await dialog
      .getByText(/ANNEX_ENROLLMENT_TOKEN=\S+ sh$/)
      .first()
      .textContent()) ?? '';
  // Only the options differ from what people paste: the agent is not a service, and uses the test's folder.
  const machine = type(`${shown} -s -- --foreground --dir '${folder}/agent'`, folder);
  let output = '';
  for (const stream of [machine.stdout, machine.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const ended = once(machine, 'close').then(() => {
    throw new Error(`The installer or the agent ended early:\n${output}`);
  });
  ended.catch(() => undefined);
  try {
    const enrolled = progress.getByRole('listitem').filter({ hasText: 'Enrollment' });
    await Promise.race([expect(enrolled).toContainText('complete', { timeout: 60_000 }), ended]);
    await expect(progress.getByRole('status')).toHaveText(`first-${unique} is healthy.`, { timeout: 30_000 });
    await expect(dialog.getByText('The token has been used.')).toBeVisible();
    await expect(dialog.getByText('The token is valid until')).toHaveCount(0);
    await expectAccessibleInBothThemes(page);
    expect(output).toContain(`Log: ${folder}/agent/logs/agent.log`);
    const token = /ANNEX_ENROLLMENT_TOKEN=(\S+)/.exec(shown)?.[1] ?? 'no token';
    expect(existsSync(`${folder}/agent/logs/agent.log`)).toBe(true);
    expect(output + readFileSync(`${folder}/agent/logs/agent.log`, 'utf8')).not.toContain(token);
    process.stdout.write(`first machine healthy: ${clicks} clicks and one command\n`);
    expect(clicks).toBe(2);
    await page.keyboard.press('Escape');
    await expect(step('Enroll a machine')).toContainText('Done');
    await expectAccessibleInBothThemes(page);
    await page.getByRole('link', { name: `Add to first-${unique}` }).click();
    await expect(page).toHaveURL(/\/vms\/.*\/add-extension/);
  } finally {
    if (machine.pid !== undefined && machine.exitCode === null) process.kill(-machine.pid, 'SIGTERM');
    await ended.catch(() => undefined);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});

test('before an agent connects, the page says what it will run first, and how to find out why it does not connect', {
  tag: '@long',
}, async ({ api, portal, signedIn, unique }) => {
  const handler = `First.${unique}.Mount`;
  const probe = `First.${unique}.Probe`;
  await api.publishSample('Northwind.Storage.Mount', '2.0.0.0', handler);
  await api.publishSample('Acme.Lab.Probe', sampleGoal('Acme.Lab.Probe').version, probe);
  const vm = await api.createVm(`planned-${unique}`);
  const page = await signedIn('operator');
  await page.goto(`/vms/${vm.id}`);
  const queue = page.getByRole('region', { name: 'Next on this machine' });
  await expect(page.getByRole('heading', { name: `planned-${unique} has no agent yet` })).toBeVisible();
  await expect(queue).toHaveCount(0);

  await api.setExtension(vm.id, 'watch', { ...sampleGoal('Acme.Lab.Probe'), handler: probe });
  await api.setExtension(vm.id, 'share', {
    handler,
    version: '2.0.0.0',
    settings: {
      publicSettings: { server: 'files.example.net', user: 'backup' },
      protectedSettings: { password: 'not for the eyes of many' },
    },
  });
  await expect(queue).toContainText('No machine is enrolled yet. The first machine to enroll will run these commands.');
  await expect(queue.getByRole('listitem')).toHaveText([/^watch\s*install [\d.]+.*enable [\d.]+/i, 'share']);
  await expectAccessibleInBothThemes(page);

  const answer = await fetch(`${portal.gatewayUrl}/agent/v1/enroll`, {
    method: 'POST',
    body: JSON.stringify({
      enrollmentToken: vm.enrollmentToken,
      certificate: newKeyPair().certificate,
      agent: { name: 'annex-agent', version: '1.0.0' },
    }),
  });
  expect(answer.status).toBe(201);
  await expect(
    page.getByRole('heading', { name: `The agent of planned-${unique} has not connected yet` }),
  ).toBeVisible();
  await expect(page.getByText('annex-agent doctor --dir /var/lib/annex-agent')).toBeVisible();
  await expect(queue).toContainText('The agent has not connected yet. After connecting, it runs these commands.');
  await expect(queue.getByRole('listitem')).toHaveText([/^share\s*install/, /^watch\s*install/]);
  await expectAccessibleInBothThemes(page);
  await page.getByRole('button', { name: 'New enrollment token' }).click();
  await expect(page.getByRole('dialog')).toContainText('replaces the current machine');
});
