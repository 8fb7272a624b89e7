"""Makes documents that use much of their formats, with python-docx, python-pptx and openpyxl.

usage: rich_documents.py DIR
"""
import io
import pathlib
import sys

import docx
import openpyxl
import openpyxl.cell.rich_text
import openpyxl.cell.text
import openpyxl.chart
import openpyxl.comments
import openpyxl.formatting.rule
import openpyxl.styles
import openpyxl.worksheet.datavalidation
import openpyxl.worksheet.table
import pptx
import pptx.chart.data
import pptx.enum.chart
import pptx.util
from docx.enum.text import WD_BREAK, WD_COLOR_INDEX
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor

TEXT = "The dog runs in the deep snow, and two men play football near the old house."


def add_link(paragraph, address, text):
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(address, docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = OxmlElement("w:r")
    run.append(OxmlElement("w:t"))
    run[0].text = text
    link.append(run)
    paragraph._p.append(link)


def add_field(paragraph, code, result):
    for kind in ("begin", "separate", "end"):
        if kind != "begin":
            instruction = paragraph.add_run()._r
            part = OxmlElement("w:instrText" if kind == "separate" else "w:t")
            part.text = f" {code} " if kind == "separate" else result
            instruction.append(part)
        mark = OxmlElement("w:fldChar")
        mark.set(qn("w:fldCharType"), kind)
        paragraph.add_run()._r.append(mark)


def make_docx(path):
    document = docx.Document()
    document.add_heading("Everything in one letter", 0)
    for level in (1, 2, 3):
        document.add_heading(f"A heading of level {level}", level)
    paragraph = document.add_paragraph()
    for text, change in (("The ", None), ("dog", "bold"), (" runs in the ", None), ("deep", "italic"), (" and ", None), ("cold", "underline"),
                         (" snow with a ", None), ("red", "color"), (" ball of ", None), ("great", "size"), (" weight, see ", None)):
        run = paragraph.add_run(text)
        if change == "color":
            run.font.color.rgb = RGBColor(255, 0, 0)
            run.font.highlight_color = WD_COLOR_INDEX.YELLOW
        elif change == "size":
            run.font.size, run.font.name, run.font.superscript = Pt(20), "Courier New", True
        elif change:
            setattr(run, change, True)
    add_link(paragraph, "http://example.org/", "the page about dogs")
    paragraph.add_run(" on page ")
    add_field(paragraph, "PAGE", "1")
    paragraph.add_run(".")
    for style in ("List Bullet", "List Number", "List Bullet 2", "Quote", "Intense Quote"):
        document.add_paragraph(TEXT, style=style)
    table = document.add_table(rows=3, cols=3, style="Light Grid Accent 1")
    for number, cell in enumerate(c for row in table.rows for c in row.cells):
        cell.text = ["Name", "Price", "A remark", "A red ball", "12.50", "It is sold.", "An old house", "1", "No & yes"][number]
    table.cell(0, 1).merge(table.cell(0, 2))
    inner = table.cell(2, 2).add_table(rows=1, cols=2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "A table in a cell", "Two words"
    broken = document.add_paragraph("One line")
    broken.add_run().add_break()
    broken.add_run("and the next one,\tbehind a tab.")
    broken.add_run().add_break(WD_BREAK.PAGE)
    document.add_comment(paragraph.runs[1], text="Is it a big dog?", author="Ann", initials="A")
    section = document.add_section()
    section.header.is_linked_to_previous = False
    section.header.paragraphs[0].text = "The header of the second part"
    section.footer.is_linked_to_previous = False
    add_field(section.footer.paragraphs[0], "NUMPAGES", "2")
    section.footer.paragraphs[0].add_run(" pages of this letter")
    for _ in range(20):
        document.add_paragraph(" ".join([TEXT] * 3))
    document.save(path)


def make_pptx(path):
    slides = pptx.Presentation()
    for layout in (0, 1, 3):
        slide = slides.slides.add_slide(slides.slide_layouts[layout])
        for shape in slide.placeholders:
            shape.text_frame.text = "A title about dogs" if shape.placeholder_format.idx == 0 else "The men play\nin the snow"
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "A table and a chart"
    inch = pptx.util.Inches(1)
    table = slide.shapes.add_table(2, 2, inch, inch, 4 * inch, inch).table
    for cell, text in zip(table.iter_cells(), ("Name", "Price", "A red ball", "12.50")):
        cell.text_frame.text = text
    data = pptx.chart.data.CategoryChartData()
    data.categories = ["Dogs", "Old houses"]
    data.add_series("How many there are", (3, 5))
    chart = slide.shapes.add_chart(pptx.enum.chart.XL_CHART_TYPE.COLUMN_CLUSTERED, inch, 3 * inch, 4 * inch, 3 * inch, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Dogs and houses in the snow"
    slide = slides.slides.add_slide(slides.slide_layouts[6])
    group = slide.shapes.add_group_shape()
    box = group.shapes.add_textbox(inch, inch, 3 * inch, inch).text_frame
    for number, (text, bold) in enumerate((("A dog ", None), ("runs", True), (" in the box, ", None), ("see here", False))):
        run = box.paragraphs[0].add_run()
        run.text, run.font.bold, run.font.italic = text, bold, number == 2 or None
    run.hyperlink.address = "http://example.org/"
    slide.notes_slide.notes_text_frame.text = "The speaker speaks of the dog.\nThen he waits."
    slides.save(path)


def make_xlsx(path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Prices of things"
    for row in (["Name", "Price", "Sold"], ["A red ball", 12.5, True], ["An old house", 90000, False], ["Sum of all", "=SUM(B2:B3)", None]):
        sheet.append(row)
    sheet["A1"].font = openpyxl.styles.Font(bold=True, color="FFFF0000", size=14)
    sheet["A2"].fill = openpyxl.styles.PatternFill("solid", fgColor="FFFFFF00")
    sheet["B2"].number_format = '#,##0.00 "EUR"'
    bold = openpyxl.cell.text.InlineFont(b=True)
    sheet["A6"] = openpyxl.cell.rich_text.CellRichText("The ", openpyxl.cell.rich_text.TextBlock(bold, "dog"), " runs in the snow.")
    sheet["A7"] = "Two men play\nin the garden"
    sheet["A7"].alignment = openpyxl.styles.Alignment(wrap_text=True)
    sheet["A8"].value, sheet["A8"].hyperlink = "See this page", "http://example.org/"
    sheet.merge_cells("A9:C9")
    sheet["A9"] = "A cell over three columns"
    sheet["A2"].comment = openpyxl.comments.Comment("This ball is sold.", "Ann")
    sheet.freeze_panes, sheet.column_dimensions["A"].width = "A2", 30
    sheet.add_data_validation(openpyxl.worksheet.datavalidation.DataValidation("list", formula1='"Yes,No"', sqref="C2:C3"))
    sheet.conditional_formatting.add("B2:B3", openpyxl.formatting.rule.CellIsRule("greaterThan", ["100"], font=openpyxl.styles.Font(bold=True)))
    chart = openpyxl.chart.BarChart()
    chart.title = "The prices of all things"
    chart.add_data(openpyxl.chart.Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    other = book.create_sheet("Dogs")
    for row in (["Dog", "Age of the dog"], ["The brown dog", 3], ["The white dog", 5]):
        other.append(row)
    other.add_table(openpyxl.worksheet.table.Table(displayName="Dogs", ref="A1:B3"))
    book.create_sheet("Empty")
    book.save(path)


def make(directory):
    """The paths of what is made."""
    makers = {"rich.docx": make_docx, "rich.pptx": make_pptx, "rich.xlsx": make_xlsx}
    for name, maker in makers.items():
        maker(directory / name)
    return [directory / name for name in makers]


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
