// Tables as the data has them: numbers aligned and rounded for reading, whole in the CSV.
import type { Cell, Column, Table } from './data';
import { fileName, h, saveFile } from './dom';
import { none, number } from './format';

const shown = (cell: Cell, column: Column): string =>
  cell === null ? none : typeof cell === 'number' ? number(cell, column.decimals) : cell;

/** A field as RFC 4180 wants it. A text that a spreadsheet would take for a formula is kept one. */
function field(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const plain = /^[=+\-@\t\r]/.test(cell) && !/^[+-]?[\d.]+( ?%)?$/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(plain) ? `"${plain.replace(/"/g, '""')}"` : plain;
}

export function csv(table: Table): string {
  const rows = [table.columns.map((column) => column.name), ...table.rows];
  return rows.map((row) => row.map(field).join(',')).join('\r\n') + '\r\n';
}

function origin(table: Table): string {
  return [
    table.command && `Command: ${table.command}`,
    table.seed !== null && `seed ${table.seed}`,
    table.version && `version ${table.version}`,
    table.source && `source ${table.source}`,
  ]
    .filter(Boolean)
    .join('; ');
}

export function tableElement(table: Table): HTMLElement {
  const head = h('div', { class: 'panel-head' }, h('h3', {}, table.title));
  const panel = h('section', { class: 'panel table', 'data-table': table.id, 'aria-label': table.title }, head);
  if (table.missing) {
    panel.append(h('p', { class: 'missing' }, table.missing));
    return panel;
  }
  const button = h('button', { type: 'button', class: 'quiet', 'aria-label': `Save ${table.title} as CSV` }, 'Save CSV');
  button.addEventListener('click', () => saveFile(fileName(table.id || table.title, 'csv'), 'text/csv', csv(table)));
  head.append(button);
  const align = (column: Column): string | false => (column.right ? 'number' : false);
  const anyHeldOut = table.heldOut.some(Boolean);
  panel.append(
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${table.title}, scrolls` },
      h('table', { class: 'values' },
        h('thead', {}, h('tr', {}, ...table.columns.map((column) => h('th', { scope: 'col', class: align(column) }, column.name)))),
        h('tbody', {}, ...table.rows.map((row, r) =>
          h('tr', { class: table.heldOut[r] ? 'held-out' : false },
            ...row.map((cell, c) => h('td', { class: align(table.columns[c]!) }, shown(cell, table.columns[c]!))),
          ))),
      )),
  );
  if (anyHeldOut) panel.append(h('p', { class: 'hint' }, 'Hatched rows are about what was held out: no training saw it.'));
  if (table.note) panel.append(h('p', { class: 'note' }, table.note));
  const made = origin(table);
  if (made) panel.append(h('p', { class: 'origin' }, made));
  return panel;
}
