import type { Metadata } from 'next';
import { words } from '#app/_lib/i18n/server.ts';

import { Words } from '#app/_lib/i18n/words.tsx';
import { portal, reader } from '#app/_lib/portal.ts';
import { codeOf, orNotFound } from '#app/_lib/server-problem.ts';
import { FootBar, Page } from '#app/_shell/page.tsx';
import type { Crumb } from '#app/_ui/breadcrumbs.tsx';
import { Card } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { executionHref } from '#app/(portal)/executions/execution-href.ts';
import { runbookHref } from '../../runbook-data.ts';
import { EditorOnDemand } from './editor-on-demand.tsx';
import { saveBarId } from './save-bar-place.ts';
import { type StartingPoint, startOfExecution, startOfNew, startOfVersion } from './starting-point.ts';

interface Query {
  version?: string | string[];
  vm?: string | string[];
  execution?: string | string[];
}

interface Props {
  params: Promise<{ runbook: string }>;
  searchParams: Promise<Query>;
}

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const [{ t }, { runbook: name }] = await Promise.all([words('runbooks'), params]);
  return { title: `${t('edit.title')} · ${decodeURIComponent(name)}` };
}

/**
 * Edits a version of a runbook: the draft `version`, or a new version that starts with a copy of an existing version,
 * with the plan of an execution, or with a sample plan.
 */
export default async function EditRunbookPage({ params, searchParams }: Props) {
  const [{ t }, { runbook: given }, query] = await Promise.all([words('runbooks'), params, searchParams]);
  const name = decodeURIComponent(given).slice(0, 64);
  const crumbs = (last: string) => [
    { label: t('title'), href: '/runbooks' },
    { label: name, href: runbookHref(name), isName: true },
    { label: last },
  ];
  if ((await reader())?.scripts !== true) return <NoRight name={name} crumbs={crumbs(t('edit.title'))} />;
  const { start, isNew, from } = await readStart(name, query);
  const first = isNew ? [{ label: t('title'), href: '/runbooks' }, { label: t('new') }] : crumbs(t('edit.title'));
  return (
    <Page
      crumbs={first}
      footer={
        <FootBar>
          <section
            id={saveBarId}
            aria-label={t('edit.bar')}
            className="flex min-h-(--control) w-full flex-wrap items-center gap-x-4 gap-y-2"
          />
        </FootBar>
      }
    >
      <Words namespaces={['runbooks', 'executions', 'editor']}>
        <EditorOnDemand name={name} start={start} isNew={isNew} from={from} />
      </Words>
    </Page>
  );
}

/** Says which right the reader lacks, and who can give it. */
async function NoRight({ name, crumbs }: { name: string; crumbs: readonly Crumb[] }) {
  const [{ t }, { t: say }, actor] = await Promise.all([words('runbooks'), words('common'), reader()]);
  return (
    <Page crumbs={crumbs}>
      <Card>
        <EmptyState as="h1" title={t('edit.noRight')}>
          <p className="text-pretty">{t('edit.needsScripts', { role: say(`role.${actor?.role ?? 'viewer'}`) })}</p>
          <p>
            <TextLink href={runbookHref(name)}>{t('run.back', { name })}</TextLink>
          </p>
        </EmptyState>
      </Card>
    </Page>
  );
}

interface Start {
  start: StartingPoint;
  isNew: boolean;
  /** URL of the execution that the editor is filled from. */
  from?: string;
}

async function readStart(name: string, query: Query): Promise<Start> {
  const { runbooks, executions } = await portal();
  const runbook = await runbooks.get({ name }).catch((error: unknown) => {
    if (codeOf(error) === 'runbook_unknown') return null;
    throw error;
  });
  const isNew = runbook === null;
  if (typeof query.vm === 'string' && typeof query.execution === 'string') {
    const about = { vmId: query.vm, executionId: query.execution };
    const [plan, execution] = await Promise.all([
      orNotFound(executions.plan(about)),
      orNotFound(executions.get(about)),
    ]);
    return {
      start: startOfExecution(plan, execution),
      isNew,
      from: executionHref({ vmId: query.vm, id: execution.id }),
    };
  }
  if (runbook === null) return { start: startOfNew(), isNew };
  const wanted = typeof query.version === 'string' ? query.version : (runbook.versions[0]?.version ?? '');
  const version = await orNotFound(runbooks.version({ name, version: wanted }));
  return { start: startOfVersion(runbook, version), isNew };
}
