import { ensureSyntaxTree, type syntaxTree } from '@codemirror/language';
import { type EditorState, type Range, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';
import { pointerPath } from '#protocol/pointer.ts';

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];

/** Marks in a JSON text, positioned by JSON pointers. */
export interface JsonMarks {
  /** Errors, each shown below its line. */
  faults: readonly JsonMark[];
  /** Likely mistakes, each shown below its line. */
  warnings?: readonly JsonMark[];
  /** The setting that has the focus in the form; its line is tinted. */
  active?: string | undefined;
}

export interface JsonMark {
  pointer: string;
  message: string;
  /** The path in human-readable form. */
  path: string;
}

/** Replaces all marks. */
export const setMarks = StateEffect.define<JsonMarks>();

/** Draws the marks and moves them with the text until they are replaced. */
export const marksOf = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(drawn, transaction) {
    const set = transaction.effects.findLast((effect) => effect.is(setMarks));
    return set === undefined ? drawn.map(transaction.changes) : draw(transaction.state, set.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

type Severity = 'failed' | 'warning';

const markedLines: Readonly<Record<Severity, Decoration>> = {
  failed: Decoration.line({ class: 'cm-bad-setting' }),
  warning: Decoration.line({ class: 'cm-doubtful-setting' }),
};
const activeLine = Decoration.line({ class: 'cm-active-setting' });

function draw(state: EditorState, { faults, warnings = [], active }: JsonMarks): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  const marked = new Set<number>();
  const mark = (found: JsonMark, severity: Severity) => {
    const line = state.doc.lineAt(placeOf(state, found.pointer));
    if (!marked.has(line.from)) ranges.push(markedLines[severity].range(line.from));
    marked.add(line.from);
    const widget = new MarkWidget(found, severity);
    ranges.push(Decoration.widget({ widget, block: true, side: 1 }).range(line.to));
  };
  for (const fault of faults) mark(fault, 'failed');
  for (const warning of warnings) mark(warning, 'warning');
  if (active !== undefined && active !== '') {
    const line = state.doc.lineAt(placeOf(state, active));
    if (!marked.has(line.from)) ranges.push(activeLine.range(line.from));
  }
  return Decoration.set(ranges, true);
}

/** The shapes of the statuses "failed" and "warning", the same as in app/_ui/status-icon.tsx. */
const shapes: Readonly<Record<Severity, string>> = {
  failed:
    'M5.1 1h5.8L15 5.1v5.8L10.9 15H5.1L1 10.9V5.1zM5.6 4.5 4.5 5.6 6.9 8l-2.4 2.4 1.1 1.1L8 9.1l2.4 2.4 1.1-1.1L9.1 8l2.4-2.4-1.1-1.1L8 6.9z',
  warning:
    'M6.9 2.1 1.1 12.4A1.25 1.25 0 0 0 2.2 14.3h11.6a1.25 1.25 0 0 0 1.1-1.9L9.1 2.1a1.26 1.26 0 0 0-2.2 0zM7.2 5.6h1.6v4H7.2zM7.2 11h1.6v1.6H7.2z',
};
const colors: Readonly<Record<Severity, string>> = {
  failed: 'border-failed-line bg-failed-tint text-failed-text',
  warning: 'border-warning-line bg-warning-tint text-warning-text',
};

class MarkWidget extends WidgetType {
  private readonly mark: JsonMark;
  private readonly severity: Severity;

  constructor(mark: JsonMark, severity: Severity) {
    super();
    this.mark = mark;
    this.severity = severity;
  }

  override eq({ mark, severity }: MarkWidget): boolean {
    return severity === this.severity && mark.message === this.mark.message && mark.path === this.mark.path;
  }

  override toDOM(): HTMLElement {
    const row = document.createElement('div');
    row.className = `flex items-baseline gap-2 border-y py-1 ps-[46px] pe-4 font-sans text-12 ${colors[this.severity]}`;
    const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    icon.setAttribute('viewBox', '0 0 16 16');
    icon.setAttribute('class', 'relative top-0.5 size-3.5 shrink-0');
    icon.setAttribute('aria-hidden', 'true');
    const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    shape.setAttribute('d', shapes[this.severity]);
    shape.setAttribute('fill', 'currentColor');
    shape.setAttribute('fill-rule', 'evenodd');
    icon.append(shape);
    const words = document.createElement('span');
    words.className = 'min-w-0 wrap-anywhere';
    const message = document.createElement('span');
    message.className = 'font-medium';
    message.textContent = this.mark.message;
    const path = document.createElement('span');
    path.className = 'mono ms-2 text-ink-2';
    path.textContent = this.mark.path;
    words.append(message, path);
    row.append(icon, words);
    return row;
  }
}

/** Returns the position of a setting in the text, or of its nearest existing parent. */
export function placeOf(state: EditorState, pointer: string): number {
  const tree = ensureSyntaxTree(state, state.doc.length, 100);
  let value = tree?.topNode.firstChild ?? null;
  if (value === null) return 0;
  let place = value.from;
  for (const part of pointerPath(pointer)) {
    const found = memberOf(state, value, part);
    if (found === null) return place;
    place = found.from;
    value = found.value;
    if (value === null) return place;
  }
  return place;
}

function memberOf(
  state: EditorState,
  holder: SyntaxNode,
  name: string,
): { from: number; value: SyntaxNode | null } | null {
  if (holder.name === 'Object') {
    for (const property of holder.getChildren('Property')) {
      const key = property.getChild('PropertyName');
      if (key !== null && nameOf(state.sliceDoc(key.from, key.to)) === name) {
        return { from: property.from, value: property.lastChild };
      }
    }
    return null;
  }
  if (holder.name !== 'Array') return null;
  let entry = holder.firstChild;
  for (let index = -1; entry !== null; entry = entry.nextSibling) {
    if (['[', ']', ',', '⚠'].includes(entry.name)) continue;
    index += 1;
    if (String(index) === name) return { from: entry.from, value: entry };
  }
  return null;
}

function nameOf(quoted: string): string | null {
  try {
    return JSON.parse(quoted);
  } catch {
    return null;
  }
}
