'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { commandsOf } from './commands.ts';
import { FileTree } from './file-tree.tsx';
import { isInManifest, lineOf, manifestNameOf, type PackageFinding } from './finding.ts';
import { FindingLine } from './finding-line.tsx';
import type { TreeFile } from './tree.ts';
import { treeOf } from './tree.ts';

export interface PackageContentsProps {
  files: readonly TreeFile[];
  /** Text of the manifest as in the package; null if it is absent or unreadable. */
  manifestText: string | null;
  findings: readonly PackageFinding[];
  /** Number of files in the package that are not in `files`. */
  leftOut?: number;
}

/** The contents of a package. Each finding is shown at its file or line; findings without a position come first. */
export function PackageContents({ files, manifestText, findings, leftOut = 0 }: PackageContentsProps) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  const whole = findings.filter(({ path }) => path === '');
  const inManifest = findings.filter(isInManifest);
  const manifestName = manifestNameOf(files, inManifest);
  const tree = treeOf(files, findings);
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  const text = manifestText?.trimEnd() ?? null;
  const firstInOrder = whole[0] ?? findings.find((finding) => !isInManifest(finding)) ?? findings[0];
  return (
    <div className="grid items-start gap-4 md:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]">
      <Card>
        <CardHeader
          title={t('files.title')}
          note={
            leftOut > 0
              ? t('files.count', { count: files.length + leftOut })
              : `${t('files.count', { count: files.length })}, ${format.bytes(bytes)}`
          }
        />
        <CardBody>
          {whole.map((finding) => (
            <FindingLine key={finding.code} finding={finding} first={finding === firstInOrder} />
          ))}
          <FileTree root={tree} commands={commandsOf(text)} first={firstInOrder} inManifest={inManifest} />
          {leftOut > 0 ? <p className="mt-2 text-ink-2">{t('files.leftOut', { count: leftOut })}</p> : null}
        </CardBody>
      </Card>
      {text === null && inManifest.length === 0 ? null : (
        <Card>
          <CardHeader
            title={
              <span translate="no" className="mono">
                {manifestName}
              </span>
            }
          />
          <CardBody className="@container">
            {text === null ? (
              inManifest.map((finding) => (
                <FindingLine
                  key={`${finding.path} ${finding.code}`}
                  finding={finding}
                  first={finding === firstInOrder}
                />
              ))
            ) : (
              <CodeBlock
                code={text}
                label={manifestName}
                language={manifestName.endsWith('.json') ? 'json' : 'text'}
                className="max-h-[32rem]"
                notes={inManifest.map((finding) => ({
                  line: lineOf(text, finding),
                  status: finding.status,
                  text: <FindingLine finding={finding} first={finding === firstInOrder} named />,
                }))}
              />
            )}
          </CardBody>
        </Card>
      )}
    </div>
  );
}
