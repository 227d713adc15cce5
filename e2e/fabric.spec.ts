import { once } from 'node:events';
import { createServer } from 'node:http';
import path from 'node:path';
import { processesBelow } from '#server/platform/processes.ts';
import { expectAccessible } from './support/accessibility.ts';
import { expect, test } from './support/fabric.ts';
import { createdModel } from './support/model.ts';
import { freePorts } from './support/portal.ts';

/** Agents enroll on a machine that also runs other journeys. */
const patience = { timeout: 60_000 };

interface ShownTopology {
  cloudServices: { publicAddress: string; deployments: { roles: { assignedAddress: string }[] }[] }[];
}

test('the fabric starts the agent of a machine, serves its port, follows a swap, and ends the agent with the model', {
  tag: '@long',
}, async ({ signedIn, api, portal, unique, console: watch }) => {
  test.setTimeout(240_000);
  // The page reads the model once more after its destruction.
  watch.allow(/status of 404/);
  const name = await createdModel(api, `fabric-${unique}`);
  const page = await signedIn('operator');
  await page.goto(`/models/${name}`);
  await page.getByRole('button', { name: 'Bootstrap' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Bootstrap' }).click();
  await page.getByRole('button', { name: 'Add machine' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Add machine' }).click();
  await page.getByRole('dialog', { name: 'The machine was added' }).getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: `${name}-0` });
  await expect(row).toContainText(/\b(ago|now)\b/, { ...patience, useInnerText: true });
  await expect(page.getByText('The proxy serves public addresses')).toBeVisible();

  const { cloudServices } = await api.call<ShownTopology>('GET', `/models/${name}/topology`);
  const address = cloudServices[0]?.publicAddress;
  const machine = cloudServices[0]?.deployments[0]?.roles[0]?.assignedAddress;
  const [port, localPort] = await freePorts(2);
  const server = createServer((_, response) => response.setHeader('connection', 'close').end('served'));
  await once(server.listen(localPort, machine), 'listening');
  const answer = () => fetch(`http://${address}:${port}/`).then((response) => response.text(), String);
  const isServed = (served: boolean) =>
    expect.poll(answer, patience).toBe(served ? 'served' : 'TypeError: fetch failed');

  const act = async (item: string) => {
    await page.getByRole('button', { name: `Actions on ${name}-0` }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await act('Open a port…');
  const ports = page.getByRole('dialog', { name: `Open a port of ${name}-0` });
  await ports.getByLabel('Public port').fill(String(port));
  await ports.getByLabel('Port on the machine').fill(String(localPort));
  await expectAccessible(page);
  await ports.getByRole('button', { name: 'Open port' }).click();
  await isServed(true);

  const swap = async () => {
    await act('Swap…');
    const dialog = page.getByRole('dialog', { name: 'Swap Production and Staging?' });
    await dialog.getByRole('button', { name: 'Swap now' }).click();
    await expect(dialog).toBeHidden();
  };
  await swap();
  await expect(row).toContainText('Staging');
  await isServed(false);
  await swap();
  await expect(row).not.toContainText('Staging');
  await isServed(true);
  server.close();

  const agents = () => processesBelow(path.join(portal.dataDir, 'fabric'));
  expect(await agents()).toHaveLength(1);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Destroy model…' }).click();
  const question = page.getByRole('alertdialog', { name: `Destroy ${name}?` });
  await question.getByLabel(`Type ${name} to continue`).fill(name);
  await question.getByRole('button', { name: 'Destroy model' }).click();
  await expect(page.getByRole('heading', { name: `${name} no longer exists` })).toBeVisible(patience);
  await expect.poll(agents, patience).toEqual([]);
});
