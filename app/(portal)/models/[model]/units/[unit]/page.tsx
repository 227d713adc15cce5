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
import { unitInAddress } from '../unit-data.ts';
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
  const [{ t }, { model: part, unit }, { run }] = await Promise.all([words('models'), params, searchParams]);
  const [model, first] = [decodeURIComponent(part), await read(part, unit)];
  const { units, fleet } = await portal();
  const name = { model, unit: first.unit };
  const [due, relations, machine] = await Promise.all([
    // If one of these cannot be read, its card says so.
    units.due(name).catch(() => undefined),
    units.relations(name).catch(() => undefined),
    fleet.rows({ vmIds: [first.vmId] }).catch(() => undefined),
  ]);
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
          run={typeof run === 'string' ? run : null}
          first={first}
          due={due}
          relations={relations}
          machine={machine}
          readAt={Date.now()}
        />
      </Words>
    </Page>
  );
}

const read = cache(async (model: string, part: string) => {
  const unit = unitInAddress(decodeURIComponent(part).slice(0, 100));
  if (unit === null) notFound();
  return orNotFound((await portal()).units.get({ model: decodeURIComponent(model).slice(0, 100), unit }));
});
