import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { cache } from 'react';
import { words } from '#app/_lib/i18n/server.ts';
import { Words } from '#app/_lib/i18n/words.tsx';
import { portal } from '#app/_lib/portal.ts';
import { orNotFound } from '#app/_lib/server-problem.ts';
import { Page } from '#app/_shell/page.tsx';
import { modelHref } from '../../../model-data.ts';
import { serviceHref } from '../../services/service-data.ts';
import { runsPageSize, type ShownUnitDetails, type UnitParts, unitInAddress } from '../unit-data.ts';
import { worstFailure } from '../why-unit.ts';
import { UnitPage } from './unit-page.tsx';

interface Props {
  params: Promise<{ model: string; unit: string }>;
  searchParams: Promise<{ run?: string | string[] }>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const { model, unit } = await params;
  return { title: `${(await read(model, unit)).unit} · ${decodeURIComponent(model)}` };
}

/** One unit: why it is not done, what is due, its machine and relations, and the runs of its hooks. */
export default async function UnitRoute({ params, searchParams }: Props) {
  const [{ t }, { model: part, unit }, { run: wanted }] = await Promise.all([words('models'), params, searchParams]);
  const [model, first] = [decodeURIComponent(part), await read(part, unit)];
  const run = typeof wanted === 'string' && runForm.test(wanted) ? wanted : null;
  const parts = await readParts(model, first, run);
  return (
    <Page
      crumbs={[
        { label: t('title'), href: '/models' },
        { label: model, href: modelHref(model), isName: true },
        { label: first.service, href: serviceHref(model, first.service), isName: true },
        { label: first.unit, isName: true },
      ]}
    >
      <Words namespaces={['models', 'services', 'reports', 'overview', 'executions', 'activity']}>
        <UnitPage
          key={`${model} ${first.unit}`}
          model={model}
          run={run}
          first={first}
          parts={parts}
          readAt={Date.now()}
        />
      </Words>
    </Page>
  );
}

const runForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Reads the cards of the page, so that nothing moves while the page loads. If a part cannot be read, its card says so. */
async function readParts(model: string, unit: ShownUnitDetails, run: string | null): Promise<UnitParts> {
  const { units, fleet, models } = await portal();
  const name = { model, unit: unit.unit };
  const [due, relations, runs, machine, instances] = await Promise.all([
    units.due(name).catch(() => undefined),
    units.relations(name).catch(() => undefined),
    units.runs({ ...name, limit: runsPageSize }).catch(() => undefined),
    fleet.rows({ vmIds: [unit.vmId] }).catch(() => undefined),
    unit.instanceId === null ? undefined : models.instances({ model, ids: [unit.instanceId] }).catch(() => undefined),
  ]);
  const shown = run ?? runs?.items[0]?.id;
  const failing = worstFailure(unit.failing)?.run;
  const readRun = async (id: string | undefined) =>
    id === undefined ? undefined : units.run({ ...name, run: id }).catch(() => undefined);
  const [details, failed] = await Promise.all([readRun(shown), readRun(failing === shown ? undefined : failing)]);
  return {
    due,
    relations,
    runs,
    run: details,
    failed: failed ?? details,
    machine,
    instance: instances?.instances[0] ?? undefined,
  };
}

const read = cache(async (model: string, part: string) => {
  const unit = unitInAddress(decodeURIComponent(part).slice(0, 100));
  if (unit === null) notFound();
  return orNotFound((await portal()).units.get({ model: decodeURIComponent(model).slice(0, 100), unit }));
});
