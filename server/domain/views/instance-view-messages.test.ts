import { beforeAll, describe, expect, test } from 'vitest';
import { resources as storedResources } from '#db/schema/index.ts';
import resourcesDe from '#protocol/fixtures/resources-de.json' with { type: 'json' };
import resourcesEn from '#protocol/fixtures/resources-en.json' with { type: 'json' };
import resourcesZhHant from '#protocol/fixtures/resources-zh-hant.json' with { type: 'json' };
import statusLocalized from '#protocol/fixtures/status-localized.json' with { type: 'json' };
import statusPlain from '#protocol/fixtures/status-without-localization.json' with { type: 'json' };
import type { Services } from '#server/domain/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ages, heartbeat, openProbeStage, type ProbeStage, start, status, statusFile } from './testing/probe.ts';

let stage: ProbeStage;
let services: Services;
beforeAll(async () => {
  stage = await openProbeStage();
  ({ services } = stage);
});

const send: ProbeStage['send'] = (...report) => stage.send(...report);
const view: ProbeStage['view'] = (...reader) => stage.view(...reader);
const resources: ProbeStage['resources'] = (...file) => stage.resources(...file);
const vmWithProbe: ProbeStage['vmWithProbe'] = (...handler) => stage.vmWithProbe(...handler);

describe('languages', () => {
  test('AZ-L2 AZ-L3 two users see one status in two languages; a later resource applies immediately', async () => {
    const speaker = 'Acme.Lab.Speaker';
    await givenVersion(services.db, { handler: speaker });
    await resources(resourcesEn, 'en', '1.0.0.0', speaker);
    const vm = await vmWithProbe(speaker);
    await send(vm, status(statusLocalized));
    const english = 'Failed to establish connection to spo-sqldb.cloudapp.net as JoeAdmin';
    const german = 'JoeAdmin fehler beim Anschluss an spo-sqldb.cloudapp.net herzustellen';
    const read = async (header?: string, chosen = '') => {
      const { extensions, languages } = await view(vm, header, { chosen });
      const { text, lang, source } = extensions[0]?.status?.message ?? {};
      return [text, lang, source, languages.join()];
    };
    expect(await read('de-AT')).toEqual([english, 'en', 'resource', 'en']);
    await resources(resourcesDe, 'de', '1.0.0.0', speaker);
    await resources(resourcesZhHant, 'zh-Hant', '1.0.0.0', speaker);
    expect(await read('en')).toEqual([english, 'en', 'resource', 'en']);
    expect(await read('de-AT')).toEqual([german, 'de', 'resource', 'de']);
    expect((await read('zh-TW'))[1]).toBe('zh-Hant');
    for (const header of ['fr', '*', ';;q=,,"', undefined])
      expect(await read(header)).toEqual([english, 'en', 'resource', 'en']);
    expect(await read('en', 'de')).toEqual([german, 'de', 'resource', 'de']);
  });

  test('AZ-L3 AZ-L5 each message names its language; Content-Language names them all', async () => {
    await resources(resourcesEn, 'en');
    await resources(resourcesDe, 'de');
    const vm = await vmWithProbe();
    const substatus = [
      { status: 'success', formattedMessage: { lang: 'fr', message: 'Bonjour' } },
      { status: 'success', message: { id: 'nobody-knows', params: ['a'] } },
      { status: 'success', formattedMessage: { lang: 'Lang[-locale]', message: 'as it stands' } },
    ];
    const message = { id: 1215, params: ['db', 'Joe'] };
    await send(vm, {
      ...status(statusFile('error', { message, substatus })),
      ...heartbeat('notready', {
        file: [{ version: 1, heartbeat: { status: 'notready', code: 3, Message: 'the service stopped' } }],
      }),
    });
    const { extensions, languages, health } = await view(vm, 'de');
    expect(extensions[0]).toMatchObject({
      heartbeat: {
        verdict: 'notready',
        code: 3,
        message: { text: 'the service stopped', lang: 'und', source: 'formatted' },
      },
      status: {
        message: {
          text: 'Joe fehler beim Anschluss an db herzustellen',
          lang: 'de',
          source: 'resource',
          id: '1215',
          params: ['db', 'Joe'],
        },
        substatus: [
          { message: { text: 'Bonjour', lang: 'fr', source: 'formatted' } },
          { message: { text: 'nobody-knows: a', source: 'id', id: 'nobody-knows', params: ['a'] } },
          { message: { text: 'as it stands', lang: 'Lang[-locale]', source: 'formatted' } },
        ],
      },
    });
    expect(languages).toEqual(['de', 'fr']);
    expect(health).toBe('failed');
  });

  test('AZ-L5 a handler without resource files gets its formatted message back with its language', async () => {
    const vm = await vmWithProbe('Acme.Lab.Quiet');
    await send(vm, status(statusPlain));
    const { extensions } = await view(vm, 'ja');
    expect(extensions[0]?.status).toMatchObject({
      message: { text: 'Enable IIS on the VM.', lang: 'en', source: 'formatted' },
      substatus: [
        { name: 'Wordpress plugin' },
        { message: { text: 'Turning windows feature for enabling IIS on.', lang: 'und' } },
      ],
    });
  });

  test('messages come from the running version or, if it has none, from the goal’s version', async () => {
    await resources(resourcesEn, 'en');
    const vm = await vmWithProbe();
    const running = (version: string) => ({
      handlers: [{ extension: 'probe', version, sequenceNumber: 1, state: 'enabled' }],
    });
    await send(vm, { ...running('2.0.0.0'), ...status(statusLocalized) });
    const text = async () => (await view(vm)).extensions[0]?.status?.message?.text;
    expect(await text()).toMatch(/^Failed to establish/);
    await resources([{ version: 1, lang: 'en', messages: [{ id: '1215', text: 'No way to {0}' }] }], 'en', '2.0.0.0');
    expect(await text()).toBe('No way to spo-sqldb.cloudapp.net');
  });
});

describe('size', () => {
  const long = 'x'.repeat(900);
  const parts = (count: number, extra: object = {}) =>
    Array.from({ length: count }, () => ({ status: 'success', message: { id: 'flood', params: [long] }, ...extra }));
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

  /**
   * Gives a version a template that an earlier release accepted: registration now rejects more than 64 placeholders.
   */
  async function givenFloodTemplate(handler: string) {
    const row = { handler, version: '1.0.0.0', warnings: [], updatedAt: start, updatedBy: 'test' };
    const messages = { flood: '{0}'.repeat(5_461) };
    await services.db.insert(storedResources).values({ ...row, lang: 'en', messages });
  }

  test("a template with thousands of placeholders and long params stays within the view's limit", async () => {
    const handler = 'Acme.Lab.Flood';
    await givenVersion(services.db, { handler });
    await givenFloodTemplate(handler);
    const vm = await vmWithProbe(handler);
    await send(vm, status(statusFile('error', { message: { id: 'flood', params: [long] }, substatus: parts(1_000) })));
    const found = await view(vm);
    expect(bytesOf(found)).toBeLessThan(4.5 * 1024 * 1024);
    const shown = found.extensions[0]?.status;
    expect(shown?.message).toMatchObject({ truncated: true, text: expect.stringMatching(/^x+…$/) });
    expect(shown?.substatus.length).toBeGreaterThan(100);
    expect((shown?.substatus.length ?? 0) + (shown?.omittedSubstatuses ?? 0)).toBe(1_000);
  });

  test('an extension with large reports leaves room for other extensions', async () => {
    const handler = 'Acme.Lab.Crowd';
    await givenVersion(services.db, { handler, supportsMultipleExtensions: true });
    await givenFloodTemplate(handler);
    const vm = await vmWithProbe(handler);
    await vm.declare('quiet', { handler });
    await vm.deliver(start);
    await send(vm, status(statusFile('success', { substatus: parts(1_000) })));
    const few = statusFile('success', { substatus: [{ status: 'success', name: 'disk' }] });
    await send(vm, { statuses: [{ extension: 'quiet', sequenceNumber: 1, ...ages, file: few }] });
    const { extensions } = await view(vm);
    const [crowd, quiet] = ['probe', 'quiet'].map((name) => extensions.find((each) => each.name === name)?.status);
    expect(quiet).toMatchObject({ omittedSubstatuses: 0, substatus: [{ name: 'disk' }] });
    expect(crowd?.substatus.length).toBeGreaterThan(200);
  });
});
