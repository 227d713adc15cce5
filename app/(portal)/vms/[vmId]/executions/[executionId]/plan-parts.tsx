'use client';

import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import type { PlanShown } from './read-plan.ts';
import { shownText } from './result.ts';

export interface PlanPartsProps {
  parts: PlanShown;
  /** The names of the execution's secret parameters. */
  secretParameters: readonly string[];
  areSecretsDeleted: boolean;
  /** Lines of the Body that the stack of the exception names. */
  failedLines: readonly number[];
}

/** The parts of a plan: the Body, and its parameters, scripts and files if it has any. */
export function PlanParts({ parts, secretParameters, areSecretsDeleted, failedLines }: PlanPartsProps) {
  const { body, parameters, scripts, files } = parts;
  const { t } = useTranslation('executions');
  const [line] = failedLines;
  const hasParameters = Object.keys(parameters).length > 0;
  const hasSecrets = secretParameters.length > 0;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4 pb-4">
      <div
        className={cn(
          'grid grid-cols-[minmax(0,1fr)] gap-4 px-4',
          (hasParameters || hasSecrets) && 'lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]',
        )}
      >
        <Part title={t('plan.body')}>
          <CodeBlock
            code={shownText(body).text.trimEnd()}
            label={t('plan.body')}
            marked={line}
            notes={line === undefined ? [] : [{ line, status: 'failed', text: t('plan.raised') }]}
            className="max-h-[32rem]"
          />
        </Part>
        {hasParameters || hasSecrets ? (
          <Part title={t('plan.parameters')}>
            {hasParameters ? (
              <CodeBlock
                code={shownText(parameters).text}
                language="json"
                numbers={false}
                label={t('plan.parameters')}
                className="max-h-[32rem]"
              />
            ) : null}
            {hasSecrets ? <SecretParameters names={secretParameters} areDeleted={areSecretsDeleted} /> : null}
          </Part>
        ) : null}
      </div>
      {scripts.length === 0 ? null : <Scripts scripts={scripts} />}
      {files.length === 0 ? null : (
        <div className="px-4">
          <Part title={t('plan.files')}>
            {files.map((file) => (
              <details key={file.id}>
                <summary className="cursor-pointer rounded-sm py-0.5 text-12">
                  <code translate="no" className="mono">
                    {file.name}
                  </code>{' '}
                  <span translate="no" className="text-ink-3">
                    {file.kind}
                  </span>
                </summary>
                {file.text === null ? (
                  <p className="text-12 text-ink-2">{t('plan.notText')}</p>
                ) : (
                  <CodeBlock code={shownText(file.text).text.trimEnd()} label={file.name} className="max-h-96" />
                )}
              </details>
            ))}
          </Part>
        </div>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-1.5">
      <h3 className="text-12 font-medium text-ink-2">{title}</h3>
      {children}
    </div>
  );
}

/** The names of the secret parameters, which the Body can read; the portal never shows their values. */
function SecretParameters({ names, areDeleted }: { names: readonly string[]; areDeleted: boolean }) {
  const { t } = useTranslation('executions');
  return (
    <p className="flex items-start gap-1.5 text-12 text-ink-2">
      <Lock aria-hidden className="mt-0.5 size-3.5 shrink-0 text-ink-3" />
      <span className="min-w-0 text-pretty">
        {t(areDeleted ? 'plan.secrets.deleted' : 'plan.secrets', { count: names.length })}{' '}
        <code translate="no" className="mono wrap-anywhere">
          {names.join(', ')}
        </code>
      </span>
    </p>
  );
}

/** On a phone, a script has two lines: its name and type, then its entry point and the number of files. */
const narrow = [
  'max-sm:block max-sm:[&_thead]:sr-only max-sm:[&_tbody]:block',
  'max-sm:[&_tr]:grid max-sm:[&_tr]:grid-cols-[minmax(0,1fr)_auto] max-sm:[&_tr]:gap-x-3 max-sm:[&_tr]:border-t max-sm:[&_tr]:border-line-subtle max-sm:[&_tr]:px-4 max-sm:[&_tr]:py-2',
  'max-sm:[&_td]:h-auto max-sm:[&_td]:border-b-0 max-sm:[&_td]:px-0! max-sm:[&_td]:whitespace-normal max-sm:[&_td]:wrap-anywhere',
].join(' ');

function Scripts({ scripts }: Pick<PlanShown, 'scripts'>) {
  const { t } = useTranslation('executions');
  const hasFiles = scripts.some(({ files }) => files > 0);
  return (
    <TableFrame label={t('plan.scripts')}>
      <Table className={narrow}>
        <THead>
          <tr>
            <Th>{t('plan.script')}</Th>
            <Th>{t('plan.type')}</Th>
            <Th>{t('plan.entryPoint')}</Th>
            {hasFiles ? <Th end>{t('plan.fileCount')}</Th> : null}
          </tr>
        </THead>
        <TBody>
          {scripts.map(({ name, type, entryPoint, files }) => (
            <Tr key={name}>
              <Td translate="no" className="mono">
                {name}
              </Td>
              <Td translate="no" className="max-sm:text-end">
                {type}
              </Td>
              <Td translate="no" className="mono">
                {entryPoint}
              </Td>
              {hasFiles ? (
                <Td end className="tabular-nums">
                  {files === 0 ? '' : <span className="text-ink-2 sm:hidden">{t('plan.fileCount')} </span>}
                  {files === 0 ? '' : files}
                </Td>
              ) : null}
            </Tr>
          ))}
        </TBody>
      </Table>
    </TableFrame>
  );
}
