# Reads figures with an XML parser of its own: well formed, one root of the right kind, every id
# once and the figure's own, every reference to an id there, no script and nothing from outside.
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"

for path in sys.argv[1:]:
    text = open(path, encoding="utf-8").read()
    root = ET.fromstring(text)
    assert root.tag == SVG + "svg", (path, root.tag)
    assert root.get("class") == "facet-figure", path
    assert root.find(SVG + "title").text, path
    assert root.find(SVG + "desc").text, path
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)), (path, ids)
    name = path.split("/")[-1][: -len(".svg")]
    assert all(i.startswith(name + "-") for i in ids), (path, ids)
    for wanted in re.findall(r"url\(#([^)]*)\)", text):
        assert wanted in ids, (path, wanted)
    numbers = "x y x1 y1 x2 y2 cx cy r rx ry width height".split()
    for element in root.iter():
        assert element.tag not in (SVG + "script", SVG + "foreignObject"), path
        assert not any(key.startswith("on") or key.endswith("href") for key in element.keys()), path
        for key in numbers:
            if element.get(key) is not None:
                float(element.get(key))
                assert "nan" not in element.get(key) and "inf" not in element.get(key), path
        for point in (element.get("points") or "").split():
            assert abs(float(point)) < 1e7, (path, point)
print(len(sys.argv) - 1, "figures")
